#include "probes/training/sources/click_floor.h"

#include <cmath>
#include <vector>

#include "probes/training/sources/auc.h"

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

}  // namespace bench::training
