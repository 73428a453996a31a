#include "probes/training/trainer/run_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.h"
#include "probes/training/parallel/parameter_hashes.h"

namespace bench::training {
namespace {

constexpr std::size_t kMaxNamed = 3;
// Weights behind one that starts at zero have no gradient in the first step.
constexpr std::int64_t kMinUpdatesToMove = 3;
// Ratio of a gradient norm to the earlier ones. Correct runs have outliers of twice the usual norm;
// one in a thousand gradients times 1000 makes it thirty times as large.
constexpr double kFaultyRatio = 10.0;

std::string named(std::vector<std::string> names) {
  const std::size_t all = names.size();
  if (all > kMaxNamed) names.resize(kMaxNamed);
  return join(names, ", ") +
         (all > kMaxNamed ? fmt::format(" and {} more", all - kMaxNamed) : "");
}

}  // namespace

void RunChecks::run(std::int64_t steps_done, Group& group) {
  if (data_.empty()) data_ = audit_.check(steps_done - 1, group);
  compare_replicas(steps_done, group);
  ++rounds_;
  last_checked_step_ = steps_done;
  if (movement_checked_step_ > 0 || replica_.updates_done() < kMinUpdatesToMove) return;
  movement_checked_step_ = steps_done;
  const auto unchanged_parameters = moved_.unchanged_parameters(group);
  unchanged_ = agreed(group, unchanged_parameters.empty() ? ""
                                           : fmt::format("unchanged after {} steps: {}",
                                                         steps_done, named(unchanged_parameters)));
}

void RunChecks::compare_replicas(std::int64_t steps_done, Group& group) {
  if (group.size() == 1 || !replicas_.empty()) return;
  replicas_ = find_replica_difference(group, tensor_hashes(replica_));
  if (!replicas_.empty()) replicas_ = fmt::format("after {} steps: {}", steps_done, replicas_);
}

TrainingCheck RunChecks::outlier_check() const {
  const auto& log = outliers_.log();
  if (log.empty()) return {"gradient_norms", true, "no outlier beyond 6 standard deviations"};
  const auto far = [](const GradientOutlier& o) { return std::abs(std::log(o.ratio)); };
  const GradientOutlier& most = *std::ranges::max_element(log, {}, far);
  return {"gradient_norms", far(most) < std::log(kFaultyRatio),
          fmt::format("{} steps beyond 6 standard deviations; the largest at step {}: {:.4g}, {:.3g} "
                      "times the running mean",
                      log.size(), most.step, most.norm, most.ratio)};
}

std::vector<TrainingCheck> RunChecks::finish(const Group& group) const {
  std::vector<TrainingCheck> checks;
  if (movement_checked_step_ > 0)
    checks.push_back(check_of(
        "parameters_move", unchanged_,
        fmt::format("all {} parameters changed within {} steps", moved_.parameters(), movement_checked_step_)));
  checks.push_back(
      check_of("data", data_,
               fmt::format("samples matched the source at {} steps{}",
                           rounds_, group.size() > 1 ? ", also on the next rank" : "")));
  if (group.size() > 1)
    checks.push_back(
        check_of("replicas_agree", replicas_,
                 fmt::format("parameters of {} ranks were identical at {} steps", group.size(), rounds_)));
  checks.push_back(outlier_check());
  return checks;
}

}  // namespace bench::training
