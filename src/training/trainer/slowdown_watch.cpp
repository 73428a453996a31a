#include "training/trainer/slowdown_watch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/order_statistics.h"
#include "training/trainer/training_run.h"

namespace bench::training {
namespace {

const double kChange = std::log(SlowdownWatch::kFactor);
constexpr double kUsualSteps = 64.0;  // that make up what is usual
constexpr double kMostChange = 1.0;   // one step counts at most this much: a factor of e
constexpr double kLeastAlarm = 2.0;   // at least three steps, however slow
// Of the variance of the logarithm: a sum whose steps fall by half of the change on average exceeds
// this by chance with a probability of about exp(-16).
constexpr double kCertain = 16.0;
const double kAlarm = kCertain / kChange;
constexpr double kFastSteps = 8.0;  // without scatter, before a slowdown is over
constexpr double kLeastSpread = 0.02;
constexpr double kNormal = 1.4826;          // of the median deviation of a normal distribution
constexpr double kLeastGrowth = 1.2;        // on average
constexpr std::size_t kLongestDoubt = 256;  // steps without an alarm, after kLeastTime

constexpr RunPhase kPhasesOfStep[] = {
    RunPhase::data,
    RunPhase::rollout,
    RunPhase::transfer,
    RunPhase::forward,
    RunPhase::backward,
    RunPhase::tensor_exchange,
    RunPhase::context_exchange,
    RunPhase::expert_exchange,
    RunPhase::pipeline_wait,
    RunPhase::exchange_exposed,
    RunPhase::compression,
    RunPhase::optimizer,
    RunPhase::offload_wait,
    RunPhase::lane_wait,
};

double sum_of(const auto& times) { return std::accumulate(times.begin(), times.end(), 0.0); }

double clamped(double change) { return std::clamp(change, -kMostChange, kMostChange); }

}  // namespace

SlowdownWatch::Step SlowdownWatch::step_of(const StepOutcome& outcome) const {
  const double total = std::max(outcome.total.value, 1e-9);
  Step step{.log_time = usual_ + clamped(std::log(total) - usual_)};
  step.times = {outcome.data.value,
                outcome.rollout.value,
                outcome.transfer.value,
                outcome.forward.value,
                outcome.backward.value,
                outcome.tensor_exchange.value,
                outcome.context_exchange.value,
                outcome.expert_exchange.value,
                outcome.pipeline_wait.value,
                outcome.exchange_exposed.value,
                outcome.compression.value,
                outcome.optimizer.value,
                outcome.offload_wait.value,
                0.0};
  step.times.back() = total - sum_of(step.times);
  return step;
}

void SlowdownWatch::learn(const StepOutcome& outcome) {
  first_.push_back(outcome);
  if (first_.size() < static_cast<std::size_t>(kLearnedSteps)) return;
  std::vector<double> logs, deviations;
  for (const StepOutcome& one : first_) logs.push_back(std::log(std::max(one.total.value, 1e-9)));
  usual_ = median(logs);
  for (const double one : logs) deviations.push_back(std::abs(one - usual_));
  spread_ = std::max(kLeastSpread, kNormal * median(deviations));
  for (const StepOutcome& one : first_) {
    const Times times = without_stall(step_of(one));
    for (std::size_t i = 0; i < kPhases; ++i) usual_times_[i] += times[i] / kLearnedSteps;
  }
}

/// The times of a step, at most e times the usual: a stall must not become usual.
SlowdownWatch::Times SlowdownWatch::without_stall(const Step& step) {
  Times times = step.times;
  const double factor = std::min(1.0, std::exp(step.log_time) / sum_of(times));
  for (double& time : times) time *= factor;
  return times;
}

void SlowdownWatch::follow_usual(const Step& step) {
  const double change = step.log_time - usual_;
  usual_ += change / kUsualSteps;
  const double square = spread_ * spread_ + (change * change - spread_ * spread_) / kUsualSteps;
  spread_ = std::max(kLeastSpread, std::sqrt(square));
  const Times times = without_stall(step);
  for (std::size_t i = 0; i < kPhases; ++i)
    usual_times_[i] += (times[i] - usual_times_[i]) / kUsualSteps;
}

double SlowdownWatch::alarm_level() const {
  return std::max(kLeastAlarm, kAlarm * spread_ * spread_);
}

void SlowdownWatch::add_slow(const Step& step) {
  ++slow_steps_;
  for (std::size_t i = 0; i < kPhases; ++i) slow_times_[i] += step.times[i];
}

TrainingSlowdown SlowdownWatch::described(std::int64_t first) const {
  const auto steps = static_cast<double>(slow_steps_);
  TrainingSlowdown found{
      .first = first, .usual_s = sum_of(usual_times_), .slow_s = sum_of(slow_times_) / steps};
  Times growth;
  for (std::size_t i = 0; i < kPhases; ++i) growth[i] = slow_times_[i] / steps - usual_times_[i];
  const auto most = static_cast<std::size_t>(std::ranges::max_element(growth) - growth.begin());
  found.phase = to_string(kPhasesOfStep[most]);
  found.phase_share = growth[most] / (found.slow_s - found.usual_s);
  return found;
}

double SlowdownWatch::seconds_of_stretch() const {
  double seconds = 0.0;
  for (const Step& step : stretch_.steps) seconds += sum_of(step.times);
  return seconds;
}

/// Of the logarithm, over the stretch: its mean, minus what is usual.
double SlowdownWatch::change_of_stretch() const {
  double change = 0.0;
  for (const Step& step : stretch_.steps) change += step.log_time - usual_;
  return change / static_cast<double>(stretch_.steps.size());
}

std::optional<TrainingSlowdown> SlowdownWatch::watch_for_slowdown(std::int64_t number,
                                                                  const Step& step) {
  // No higher than the alarm: so a stretch that is over is forgotten within a few steps.
  sum_ = std::clamp(sum_ + step.log_time - usual_ - kChange / 2.0, 0.0, alarm_level());
  if (stretch_.steps.empty()) stretch_.first = number;
  stretch_.steps.push_back(step);
  const double change = change_of_stretch();
  const bool long_enough = seconds_of_stretch() >= kLeastTime.value;
  if (long_enough && sum_ >= alarm_level() && change >= std::log(kLeastGrowth)) {
    for (const Step& one : stretch_.steps) add_slow(one);
    slow_ = described(stretch_.first);
    middle_ = usual_ + change / 2.0;
  } else if (sum_ > 0.0 && !(long_enough && stretch_.steps.size() >= kLongestDoubt)) {
    return {};
  } else {
    for (const Step& one : stretch_.steps) follow_usual(one);
  }
  sum_ = 0.0;
  stretch_ = {};
  return slow_;
}

std::optional<TrainingSlowdown> SlowdownWatch::watch_for_end(std::int64_t number,
                                                             const Step& step) {
  const double gap = 2.0 * (middle_ - usual_);
  const double enough = std::max(kFastSteps * gap / 2.0, kCertain * spread_ * spread_ / gap);
  sum_ = std::max(0.0, sum_ + middle_ - step.log_time);
  if (stretch_.steps.empty()) stretch_.first = number;
  stretch_.steps.push_back(step);
  if (sum_ > 0.0 && sum_ < enough) return {};
  std::optional<TrainingSlowdown> over;
  if (sum_ >= enough) {
    over = slow_;
    over->end = stretch_.first;
    slow_.reset();
    slow_times_ = {};
    slow_steps_ = 0;
  } else {
    for (const Step& one : stretch_.steps) add_slow(one);
    slow_ = described(slow_->first);
  }
  sum_ = 0.0;
  stretch_ = {};
  return over;
}

std::optional<TrainingSlowdown> SlowdownWatch::after_step(std::int64_t step,
                                                          const StepOutcome& outcome) {
  if (cold_ < kColdSteps) {
    ++cold_;
    return {};
  }
  if (first_.size() < static_cast<std::size_t>(kLearnedSteps)) {
    learn(outcome);
    return {};
  }
  return slow_ ? watch_for_end(step, step_of(outcome)) : watch_for_slowdown(step, step_of(outcome));
}

std::optional<TrainingSlowdown> SlowdownWatch::finish(std::int64_t steps) const {
  std::optional<TrainingSlowdown> last = slow_;
  if (last) last->end = steps;
  return last;
}

}  // namespace bench::training
