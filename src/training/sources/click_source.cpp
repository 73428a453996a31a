#include "training/sources/click_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "training/sources/auc.h"

namespace bench::training {

ClickFloor floor_of(const ClickSource& source, std::uint64_t samples) {
  std::vector<float> dense(static_cast<std::size_t>(source.shape().dense));
  std::vector<std::int32_t> ids(static_cast<std::size_t>(source.shape().ids()));
  std::vector<double> probabilities;
  std::vector<float> best, alone;
  ClickFloor floor;
  double labels = 0;
  ClickSample sample{.dense = dense, .ids = ids};
  for (std::uint64_t index = 0; index < samples; ++index) {
    source.read(Split::evaluation, index, sample);
    const double p = sample.probability;
    probabilities.push_back(p);
    best.push_back(static_cast<float>(p));
    alone.push_back(static_cast<float>(sample.main_effects));
    floor.click_rate += p / static_cast<double>(samples);
    floor.log_loss -= std::log(sample.label > 0 ? p : 1 - p) / static_cast<double>(samples);
    labels += sample.label / static_cast<double>(samples);
  }
  floor.blind_log_loss = -labels * std::log(labels) - (1 - labels) * std::log(1 - labels);
  floor.auc = expected_auc(best, probabilities);
  floor.main_effects_auc = expected_auc(alone, probabilities);
  return floor;
}

int ClickShape::ids() const { return std::accumulate(lookups.begin(), lookups.end(), 0); }

std::int64_t ClickShape::total_rows() const {
  return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
}

bool rows_fit(std::span<const std::int64_t> rows) {
  return std::ranges::all_of(rows,
                             [](std::int64_t r) { return r >= 1 && r < std::int64_t{1} << 31; });
}

void check_fits(const ClickSample& sample, const ClickShape& shape) {
  if (sample.dense.size() != static_cast<std::size_t>(shape.dense) ||
      sample.ids.size() != static_cast<std::size_t>(shape.ids()))
    throw Error(ErrorKind::internal,
                fmt::format("a sample has {} dense features and {} IDs, expected {} and {}",
                            shape.dense, shape.ids(), sample.dense.size(), sample.ids.size()));
}

}  // namespace bench::training
