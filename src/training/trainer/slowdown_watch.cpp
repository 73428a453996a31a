#include "training/trainer/slowdown_watch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/order_statistics.h"
#include "training/trainer/training_run.h"

namespace bench::training {
namespace {

const double kChange = std::log(SlowdownWatch::kFactor);
constexpr double kMemory = 64.0;     // steps that make up what is usual
constexpr double kMostChange = 1.0;  // one step counts at most this much: a factor of e
constexpr double kLeastAlarm = 2.0;  // at least three steps, however slow
// Of the variance of the logarithm: a sum whose steps fall by half of the change on average exceeds
// this by chance with a probability of about exp(-16).
const double kAlarm = 16.0 / kChange;
constexpr double kLeastSpread = 0.02;
constexpr double kNormal = 1.4826;  // of the median deviation of a normal distribution
constexpr std::size_t kFastSteps = 8;
constexpr double kLeastGrowth = 1.2;        // on average
constexpr std::size_t kLongestDoubt = 256;  // steps without an alarm, after kLeastTime

constexpr RunPhase kPhasesOfStep[] = {
    RunPhase::data,      RunPhase::transfer,         RunPhase::forward,
    RunPhase::backward,  RunPhase::exchange_exposed, RunPhase::optimizer,
    RunPhase::lane_wait,
};

double sum_of(const auto& times) { return std::accumulate(times.begin(), times.end(), 0.0); }

}  // namespace

SlowdownWatch::Times SlowdownWatch::times_of(const StepOutcome& step) {
  Times times = {step.data.value,
                 step.transfer.value,
                 step.forward.value,
                 step.backward.value,
                 step.exchange_exposed.value,
                 step.optimizer.value,
                 0.0};
  times.back() = step.total.value - sum_of(times);
  return times;
}

void SlowdownWatch::learn(const Times& times, double log_time) {
  first_.push_back(log_time);
  for (std::size_t i = 0; i < kPhases; ++i) usual_times_[i] += times[i] / kLearnedSteps;
  if (first_.size() < static_cast<std::size_t>(kLearnedSteps)) return;
  usual_ = median(first_);
  std::vector<double> deviations;
  for (const double one : first_) deviations.push_back(std::abs(one - usual_));
  spread_ = std::max(kLeastSpread, kNormal * median(deviations));
}

void SlowdownWatch::follow_usual(double log_time, const Times& times) {
  const double change = std::clamp(log_time - usual_, -kMostChange, kMostChange);
  usual_ += change / kMemory;
  const double square = spread_ * spread_ + (change * change - spread_ * spread_) / kMemory;
  spread_ = std::max(kLeastSpread, std::sqrt(square));
  for (std::size_t i = 0; i < kPhases; ++i)
    usual_times_[i] += (times[i] - usual_times_[i]) / kMemory;
}

void SlowdownWatch::forget_excursion() {
  Times mean = excursion_times_;
  for (double& time : mean)
    time /= static_cast<double>(std::max<std::int64_t>(1, excursion_steps_));
  for (const double log_time : excursion_) follow_usual(log_time, mean);
  excursion_.clear();
  excursion_times_ = {};
  excursion_steps_ = 0;
}

double SlowdownWatch::alarm_level() const {
  return std::max(kLeastAlarm, kAlarm * spread_ * spread_);
}

TrainingSlowdown SlowdownWatch::described() const {
  const auto steps = static_cast<double>(excursion_steps_);
  TrainingSlowdown found{.first = first_step_,
                         .usual_s = sum_of(usual_times_),
                         .slow_s = sum_of(excursion_times_) / steps};
  Times growth;
  for (std::size_t i = 0; i < kPhases; ++i)
    growth[i] = excursion_times_[i] / steps - usual_times_[i];
  const auto most = static_cast<std::size_t>(std::ranges::max_element(growth) - growth.begin());
  found.phase = to_string(kPhasesOfStep[most]);
  found.phase_share = growth[most] / (found.slow_s - found.usual_s);
  return found;
}

std::optional<TrainingSlowdown> SlowdownWatch::watch_usual(std::int64_t step, double log_time,
                                                           const Times& times) {
  const double change = std::clamp(log_time - usual_, -kMostChange, kMostChange);
  // No higher than the alarm: so a stall that is over is forgotten within a few steps.
  sum_ = std::clamp(sum_ + change - kChange / 2.0, 0.0, alarm_level());
  if (sum_ == 0.0) {
    forget_excursion();
    follow_usual(log_time, times);
    return {};
  }
  if (excursion_steps_ == 0) first_step_ = step;
  excursion_.push_back(log_time);
  ++excursion_steps_;
  for (std::size_t i = 0; i < kPhases; ++i) excursion_times_[i] += times[i];
  if (sum_of(excursion_times_) < kLeastTime.value) return {};
  const TrainingSlowdown found = described();
  if (sum_ < alarm_level() || found.slow_s < kLeastGrowth * found.usual_s) {
    if (excursion_.size() < kLongestDoubt) return {};
    forget_excursion();  // a little slower: that is usual now
    sum_ = 0.0;
    return {};
  }
  excursion_.clear();
  slow_ = found;
  return found;
}

std::optional<TrainingSlowdown> SlowdownWatch::watch_slow(std::int64_t step, double log_time,
                                                          const Times& times) {
  latest_.push_back(log_time);
  if (latest_.size() > kFastSteps) latest_.pop_front();
  const double middle = (usual_ + std::log(slow_->slow_s)) / 2.0;
  const auto fast = static_cast<std::size_t>(
      std::ranges::count_if(latest_, [&](double one) { return one < middle; }));
  if (fast == kFastSteps) {
    TrainingSlowdown over = *slow_;
    over.end = step + 1 - static_cast<std::int64_t>(kFastSteps);
    slow_.reset();
    latest_.clear();
    sum_ = 0.0;
    excursion_times_ = {};
    excursion_steps_ = 0;
    return over;
  }
  if (log_time >= middle) {
    ++excursion_steps_;
    for (std::size_t i = 0; i < kPhases; ++i) excursion_times_[i] += times[i];
    slow_ = described();
  }
  return {};
}

std::optional<TrainingSlowdown> SlowdownWatch::after_step(std::int64_t step,
                                                          const StepOutcome& outcome) {
  if (cold_ < kColdSteps) {
    ++cold_;
    return {};
  }
  const Times times = times_of(outcome);
  const double log_time = std::log(std::max(outcome.total.value, 1e-9));
  if (first_.size() < static_cast<std::size_t>(kLearnedSteps)) {
    learn(times, log_time);
    return {};
  }
  return slow_ ? watch_slow(step, log_time, times) : watch_usual(step, log_time, times);
}

std::optional<TrainingSlowdown> SlowdownWatch::finish(std::int64_t steps) const {
  std::optional<TrainingSlowdown> last = slow_;
  if (last) last->end = steps;
  return last;
}

}  // namespace bench::training
