#include "training/detection/average_precision.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bench::training {
namespace {

constexpr std::size_t kOverlaps = 10, kRecalls = 101;

double threshold(std::size_t number) { return 0.5 + 0.05 * static_cast<double>(number); }

struct AreaRange {
  double low = 0.0, high = 1e10;
  bool has(double area) const { return area >= low && area <= high; }
};

/// A detection after matching, at each overlap.
struct Judged {
  double score = 0.0;
  std::array<bool, kOverlaps> right = {}, counts = {};
};

/// One class and range of areas, over all images.
struct Tally {
  std::vector<Judged> judged = {};
  int wanted = 0;  // objects that count
};

struct Candidate {
  const Truth* truth;
  bool ignored;
};

/// Those of the class, the ones that count first.
std::vector<Candidate> candidates(const JudgedImage& image, int label, const AreaRange& range) {
  std::vector<Candidate> found;
  for (const Truth& truth : image.truths)
    if (truth.label == label)
      found.push_back({&truth, truth.ignored || !range.has(truth.box.area())});
  std::ranges::stable_sort(found, {}, &Candidate::ignored);
  return found;
}

std::vector<Detection> best_detections(const JudgedImage& image, int label, int most) {
  std::vector<Detection> found;
  for (const Detection& one : image.detections)
    if (one.label == label) found.push_back(one);
  std::ranges::stable_sort(found, std::ranges::greater{}, &Detection::score);
  if (found.size() > static_cast<std::size_t>(most)) found.resize(static_cast<std::size_t>(most));
  return found;
}

/// Of an ignored region, the share of the detection inside counts.
double overlap_with(const Detection& one, const Truth& truth) {
  if (!truth.ignored) return overlap(one.box, truth.box);
  const double area = one.box.area();
  return area > 0.0 ? intersection(one.box, truth.box) / area : 0.0;
}

/// The best match of a detection among objects that are still free, or -1. One that counts is
/// preferred to any ignored one; ignored regions may be matched again and again.
int best_match(const std::vector<double>& overlaps, const std::vector<Candidate>& objects,
               const std::vector<bool>& taken, double least) {
  int best = -1;
  double most = std::min(least, 1.0 - 1e-10);
  for (std::size_t k = 0; k < objects.size(); ++k) {
    if (taken[k] && !objects[k].truth->ignored) continue;
    if (best >= 0 && !objects[static_cast<std::size_t>(best)].ignored && objects[k].ignored) break;
    if (overlaps[k] < most) continue;
    most = overlaps[k];
    best = static_cast<int>(k);
  }
  return best;
}

void judge_image(const JudgedImage& image, int label, const AreaRange& range, int most,
                 Tally& tally) {
  const std::vector<Candidate> objects = candidates(image, label, range);
  const std::vector<Detection> detections = best_detections(image, label, most);
  tally.wanted += static_cast<int>(std::ranges::count(objects, false, &Candidate::ignored));
  std::array<std::vector<bool>, kOverlaps> taken;
  taken.fill(std::vector<bool>(objects.size(), false));
  std::vector<double> overlaps(objects.size());
  for (const Detection& one : detections) {
    for (std::size_t k = 0; k < objects.size(); ++k)
      overlaps[k] = overlap_with(one, *objects[k].truth);
    Judged judged{one.score, {}, {}};
    for (std::size_t t = 0; t < kOverlaps; ++t) {
      const int match = best_match(overlaps, objects, taken.at(t), threshold(t));
      if (match < 0) {
        judged.counts.at(t) = range.has(one.box.area());
        continue;
      }
      taken.at(t)[static_cast<std::size_t>(match)] = true;
      judged.right.at(t) = judged.counts.at(t) = !objects[static_cast<std::size_t>(match)].ignored;
    }
    tally.judged.push_back(judged);
  }
}

/// Precision and recall after each detection that counts, by falling score.
struct Curve {
  std::vector<double> precision = {}, recall = {};
};

Curve curve_of(const Tally& tally, std::size_t number) {
  Curve curve;
  double right = 0.0, all = 0.0;
  for (const Judged& one : tally.judged) {
    right += one.right.at(number) ? 1.0 : 0.0;
    all += one.counts.at(number) ? 1.0 : 0.0;
    curve.precision.push_back(all > 0.0 ? right / all : 0.0);
    curve.recall.push_back(right / static_cast<double>(tally.wanted));
  }
  return curve;
}

/// The mean over 101 recalls of the best precision from there on, 0 beyond the highest recall.
double average_precision(Curve curve) {
  for (std::size_t i = curve.precision.size(); i-- > 1;)
    curve.precision[i - 1] = std::max(curve.precision[i - 1], curve.precision[i]);
  double sum = 0.0;
  for (std::size_t i = 0; i < kRecalls; ++i) {
    const auto at = std::ranges::lower_bound(curve.recall, 0.01 * static_cast<double>(i));
    if (at != curve.recall.end())
      sum += curve.precision[static_cast<std::size_t>(at - curve.recall.begin())];
  }
  return sum / static_cast<double>(kRecalls);
}

struct Means {
  double sum = 0.0, count = 0.0;
  void add(double value) {
    sum += value;
    count += 1.0;
  }
  double mean() const { return count > 0.0 ? sum / count : MeanPrecision::kNone; }
};

/// Means over classes that have something to detect: of each overlap, and of the highest recalls.
struct RangeResult {
  std::array<Means, kOverlaps> precision = {};
  Means recall = {};
  double mean() const {
    Means all;
    for (const Means& one : precision)
      if (one.count > 0.0) all.add(one.mean());
    return all.mean();
  }
};

RangeResult judge_range(const std::vector<JudgedImage>& images, int classes, const AreaRange& range,
                        int most) {
  RangeResult result;
  for (int label = 0; label < classes; ++label) {
    Tally tally;
    for (const JudgedImage& image : images) judge_image(image, label, range, most, tally);
    if (tally.wanted == 0) continue;
    std::ranges::stable_sort(tally.judged, std::ranges::greater{}, &Judged::score);
    for (std::size_t t = 0; t < kOverlaps; ++t) {
      const Curve curve = curve_of(tally, t);
      result.recall.add(curve.recall.empty() ? 0.0 : curve.recall.back());
      result.precision.at(t).add(average_precision(curve));
    }
  }
  return result;
}

}  // namespace

MeanPrecision mean_precision(const std::vector<JudgedImage>& images, int classes,
                             const PrecisionOptions& options) {
  const auto [medium, large] = options.areas;
  const RangeResult all = judge_range(images, classes, {}, options.most);
  const auto of = [&](const AreaRange& range) {
    return judge_range(images, classes, range, options.most).mean();
  };
  return {all.mean(),          all.precision[0].mean(), all.precision[5].mean(), of({0.0, medium}),
          of({medium, large}), of({large, 1e10}),       all.recall.mean()};
}

}  // namespace bench::training
