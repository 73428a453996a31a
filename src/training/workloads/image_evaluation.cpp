#include "training/workloads/image_evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/elements.h"

namespace bench::training {

void ImageEvaluation::add(const Lane& lane, std::uint64_t first, std::int64_t count) {
  const View logits = lane.view(logits_);
  std::vector<double> z(static_cast<std::size_t>(logits.columns));
  for (std::int64_t i = 0; i < count; ++i) {
    const View row = rows_of(logits, i, 1);
    decode(row.as<std::byte>(), row.dtype, false, z);
    const PictureLabels of =
        source_.labels(Split::evaluation, first + static_cast<std::uint64_t>(i));
    if (!std::ranges::all_of(z, [](double one) { return std::isfinite(one); }))
      counts_[kRight] = std::numeric_limits<double>::quiet_NaN();  // no quality at all
    const auto most = std::ranges::max_element(z);
    const auto answer = static_cast<int>(most - z.begin());
    const double wanted = z.at(static_cast<std::size_t>(of.label));
    double sum = 0.0;
    for (const double one : z) sum += std::exp(one - *most);
    counts_[kPictures] += 1.0;
    counts_[kLoss] += std::log(sum) + *most - wanted;
    if (answer == of.label) counts_[kRight] += 1.0;
    int before = 0;  // of equal ones the first comes first, as for the answer
    for (std::size_t j = 0; j < z.size(); ++j)
      if (z[j] > wanted || (z[j] == wanted && static_cast<int>(j) < of.label)) ++before;
    if (before < 5) counts_[kInFive] += 1.0;
    if (answer == of.truth) counts_[kTrueClass] += 1.0;
    if (of.label == of.truth) counts_[kRightLabels] += 1.0;
  }
}

Quality ImageEvaluation::finish(Group& group) {
  std::vector<double> all(counts_.begin(), counts_.end());
  group.sum(all);
  const auto share = [&](Counted of) { return all[of] / all[kPictures]; };
  const double best = source_.has_oracle() ? share(kRightLabels) : 1.0;
  Quality quality{best - share(kRight), share(kRight), best, {}};
  quality.parts.emplace_back("top_5", share(kInFive));
  if (source_.has_oracle()) quality.parts.emplace_back("true_class", share(kTrueClass));
  quality.parts.emplace_back("loss", share(kLoss));
  return quality;
}

}  // namespace bench::training
