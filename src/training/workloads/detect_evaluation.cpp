#include "training/workloads/detect_evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/elements.h"
#include "training/detection/anchors.h"
#include "training/detection/suppression.h"
#include "training/tables/rank_exchange.h"

namespace bench::training {
namespace {

/// A detection as numbers that ranks exchange: image, class, score, box. Image -1: none.
constexpr std::size_t kNumbers = 7;

void put_detection(std::vector<float>& numbers, std::uint64_t image, const Detection& one) {
  for (const double number : {static_cast<double>(image), static_cast<double>(one.label), one.score,
                              one.box.left, one.box.top, one.box.right, one.box.bottom})
    numbers.push_back(static_cast<float>(number));
}

void take_detections(const std::vector<float>& numbers, std::vector<JudgedImage>& images) {
  for (std::size_t at = 0; at < numbers.size(); at += kNumbers) {
    if (numbers[at] < 0.0f) continue;
    std::array<double, kNumbers> d;
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(at), kNumbers, d.begin());
    images.at(static_cast<std::size_t>(d[0]))
        .detections.push_back({{d[3], d[4], d[5], d[6]}, static_cast<int>(d[1]), d[2]});
  }
}

/// Every rank's numbers, whose counts differ.
std::vector<float> gather_numbers_of_ranks(Group& group, std::vector<float> own) {
  if (group.size() == 1) return own;
  const double most = largest(group, static_cast<double>(own.size()));
  if (most == 0.0) return own;
  own.resize(static_cast<std::size_t>(most), -1.0f);
  return gather_all(group, own);
}

/// Areas that divide the objects of a square image as COCO's do those of 640 x 480 pixels.
PrecisionOptions precision_options(const SceneShape& shape) {
  const double scale = static_cast<double>(shape.side) * shape.side / (640.0 * 480.0);
  PrecisionOptions options;
  for (double& area : options.areas) area *= scale;
  return options;
}

}  // namespace

const std::vector<JudgedImage>& KnownScenes::labels(const SceneSource& source,
                                                    std::uint64_t count) {
  Scene scene;
  while (labels_.size() < count) {
    source.read(Split::evaluation, labels_.size(), scene);
    JudgedImage image{scene.truths, {}};
    labels_.push_back(image);
    for (std::size_t k = 0; k < scene.truths.size(); ++k)
      if (!scene.truths[k].ignored)
        image.detections.push_back({scene.boxes[k], scene.truths[k].label, 1.0});
    answered_.push_back(std::move(image));
  }
  return labels_;
}

const MeanPrecision& KnownScenes::best(const SceneSource& source, std::uint64_t count) {
  labels(source, count);
  const auto [at, is_new] = best_.try_emplace(count);
  if (is_new) {
    const std::vector<JudgedImage> images(answered_.begin(),
                                          answered_.begin() + static_cast<std::ptrdiff_t>(count));
    at->second = mean_precision(images, source.shape().classes, precision_options(source.shape()));
  }
  return at->second;
}

std::vector<Detection> read_detections(View predictions, std::int64_t first_row,
                                       const std::vector<Box>& anchors) {
  const std::int64_t classes = predictions.columns - 4;
  std::vector<Detection> found;
  std::vector<double> row(static_cast<std::size_t>(predictions.columns));
  const double least = std::log(kLeastScore / (1.0 - kLeastScore));
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const View own = rows_of(predictions, first_row + static_cast<std::int64_t>(i), 1);
    decode(own.as<std::byte>(), own.dtype, false, row);
    for (std::int64_t label = 0; label < classes; ++label) {
      const double logit = row[static_cast<std::size_t>(label)];
      if (!(logit > least)) continue;
      const auto* box = row.data() + classes;
      found.push_back({decode_box(anchors[i], {box[0], box[1], box[2], box[3]}),
                       static_cast<int>(label), 1.0 / (1.0 + std::exp(-logit))});
    }
  }
  return suppress(std::move(found));
}

void DetectEvaluation::add(const Lane& lane, std::uint64_t first, std::int64_t count) {
  const View predictions = lane.view(predictions_);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = i * static_cast<std::int64_t>(anchors_.size());
    for (const Detection& one : read_detections(predictions, row, anchors_))
      put_detection(found_, first + static_cast<std::uint64_t>(i), one);
  }
  images_ += count;
}

Quality DetectEvaluation::finish(Group& group) {
  const auto count = static_cast<std::uint64_t>(total(group, static_cast<double>(images_)));
  std::vector<JudgedImage> images = known_.labels(source_, count);
  images.resize(count);
  take_detections(gather_numbers_of_ranks(group, std::move(found_)), images);
  const MeanPrecision made =
      mean_precision(images, source_.shape().classes, precision_options(source_.shape()));
  const MeanPrecision& best = known_.best(source_, count);
  Quality quality{best.all - made.all, made.all, best.all, {}};
  const auto part = [&](const char* name, double value) {
    if (!std::isnan(value)) quality.parts.emplace_back(name, value);
  };
  part("ap_50", made.at_50);
  part("ap_75", made.at_75);
  part("ap_small", made.small);
  part("ap_medium", made.medium);
  part("ap_large", made.large);
  part("recall", made.recall);
  part("best_ap_50", best.at_50);
  part("best_ap_75", best.at_75);
  return quality;
}

}  // namespace bench::training
