#include "probes/external/training_log.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench::external {
namespace {

// The time breakdown of a run, from intervals that may overlap and repeat.

using Interval = std::pair<std::int64_t, std::int64_t>;

/// The parts inside `whole`, in order, without overlaps.
std::vector<Interval> merged(std::vector<Interval> parts, const Interval& whole) {
  std::vector<Interval> result;
  std::ranges::sort(parts);
  for (auto [begin, end] : parts) {
    begin = std::max(begin, whole.first);
    end = std::min(end, whole.second);
    if (begin >= end) continue;
    if (!result.empty() && begin <= result.back().second)
      result.back().second = std::max(result.back().second, end);
    else
      result.emplace_back(begin, end);
  }
  return result;
}

Seconds length(const std::vector<Interval>& parts) {
  std::int64_t sum = 0;
  for (const auto& [begin, end] : parts) sum += end - begin;
  return {1e-3 * static_cast<double>(sum)};
}

}  // namespace

std::vector<LoggedPhase> TrainingLog::breakdown() const {
  const auto run = run_time();
  if (!run || !(run->value > 0.0)) return {};
  const Interval whole{run_start_->line.time_ms, run_stop_->line.time_ms};
  std::vector<Interval> both = training_;
  both.insert(both.end(), evaluating_.begin(), evaluating_.end());
  const Seconds evaluation = length(merged(evaluating_, whole));
  const Seconds covered = length(merged(both, whole));
  std::vector<LoggedPhase> phases;
  if (const auto init = init_time()) phases.push_back({"init", *init});
  phases.push_back({"train", covered - evaluation});
  phases.push_back({"evaluation", evaluation});
  phases.push_back({"other", *run - covered});
  return phases;
}

namespace {

constexpr std::size_t kMostSeeds = 10'000;
constexpr std::size_t kMostEvaluations = 50'000;
constexpr std::size_t kMostThroughputs = 200'000;
constexpr std::size_t kLongestText = 1000;
constexpr std::size_t kMostSaid = 300;  // keys; a log has about 60

std::optional<double> number_of(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return {};
  const double value = found->get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

double value_of(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string status_in(const MllogLine& line) {
  const auto status = line.metadata.find("status");
  return status != line.metadata.end() && status->is_string() ? status->get<std::string>() : "";
}

}  // namespace

bool Goal::met_by(double value) const {
  if (!target) return false;
  return lower_is_better ? value <= *target : value >= *target;
}

double Goal::gap(double value) const {
  if (!target) return std::numeric_limits<double>::quiet_NaN();
  return lower_is_better ? value - *target : *target - value;
}

void TrainingLog::add_trouble(std::string_view text, const std::string& trouble) {
  const auto body = text.find_first_not_of(' ', text.rfind(kMllogToken) + kMllogToken.size());
  if (body == std::string_view::npos || text[body] != '{') {
    ++mentions_;
  } else if (troubles_++ == 0) {
    first_trouble_ = trouble;
  }
}

void TrainingLog::add(const LoggedLine& logged) {
  const MllogLine& line = logged.line;
  ++lines_;
  if (line.key == "init_start" && !init_start_ms_) init_start_ms_ = line.time_ms;
  if (line.key == "run_start" && !run_start_) run_start_ = logged;
  if (line.key == "run_stop") add_stop(logged);
  if (line.key == goal_.key) add_evaluation(line);
  if (line.key == "seed" && seeds_.size() < kMostSeeds &&
      std::ranges::find(seeds_, line.value) == seeds_.end())
    seeds_.push_back(line.value);
  if (line.key == "tracked_stats") return add_statistics(line.value);
  if (line.key == "train_loss" && line.value.is_number()) loss_ = line.value.get<double>();
  add_interval(logged);
  if (line.event == MllogEvent::point_in_time) add_said(line);
}

void TrainingLog::add_said(const MllogLine& line) {
  if (line.key == goal_.key || line.key == "train_loss" || said_.contains(line.key)) return;
  const auto* text = line.value.get_ptr<const std::string*>();
  const bool small =
      !line.value.is_structured() && (text == nullptr || text->size() < kLongestText);
  if (small && said_.size() < kMostSaid && line.key.size() < kLongestText)
    said_.emplace(line.key, line.value);
  else
    ++dropped_;
}

void TrainingLog::add_stop(const LoggedLine& logged) {
  const std::string status = status_in(logged.line);
  if (!run_stop_) {
    run_stop_ = logged;
    status_ = status;
  } else if (status_ == "success") {
    status_ = status;  // a failure on any rank counts
  }
}

void TrainingLog::add_evaluation(const MllogLine& line) {
  LoggedEvaluation evaluation;
  evaluation.value = value_of(line.value);
  evaluation.time_ms = line.time_ms;
  evaluation.samples = number_of(line.metadata, "samples_count");
  evaluation.epochs = number_of(line.metadata, "epoch_num");
  evaluation.loss = loss_;
  const bool placed = evaluation.samples || evaluation.epochs;
  const std::pair place{evaluation.samples.value_or(-1.0), evaluation.epochs.value_or(-1.0)};
  if (placed && !evaluated_.insert(place).second) return;
  if (evaluations_.size() < kMostEvaluations)
    evaluations_.push_back(evaluation);
  else
    ++dropped_;
}

void TrainingLog::add_statistics(const Json& value) {
  if (const auto speed = number_of(value, "throughput"); speed && *speed > 0.0)
    throughputs_.size() < kMostThroughputs ? throughputs_.push_back(*speed) : void(++dropped_);
  for (const char* key : {"loss", "train_loss", "reduced_train_loss"})
    if (const auto loss = number_of(value, key)) loss_ = loss;
}

/// By the key alone: some trainings log eval_start as a point in time.
void TrainingLog::add_interval(const LoggedLine& logged) {
  const MllogLine& line = logged.line;
  for (const std::string kind : {"eval", "block", "epoch"}) {
    const std::pair<std::string, int> place{kind, logged.rank};
    if (line.key == kind + "_start") open_[place] = line.time_ms;
    if (line.key != kind + "_stop") continue;
    const auto begin = open_.find(place);
    if (begin == open_.end()) continue;
    (kind == "eval" ? evaluating_ : training_).emplace_back(begin->second, line.time_ms);
    open_.erase(begin);
  }
}

std::optional<Seconds> TrainingLog::run_time() const {
  if (!run_start_ || !run_stop_) return {};
  return Seconds{1e-3 * static_cast<double>(run_stop_->line.time_ms - run_start_->line.time_ms)};
}

std::optional<Seconds> TrainingLog::init_time() const {
  if (!run_start_ || !init_start_ms_ || *init_start_ms_ > run_start_->line.time_ms) return {};
  return Seconds{1e-3 * static_cast<double>(run_start_->line.time_ms - *init_start_ms_)};
}

const LoggedEvaluation* TrainingLog::meeting() const {
  if (!run_time()) return nullptr;
  for (const LoggedEvaluation& one : evaluations_)
    if (goal_.met_by(one.value) && one.time_ms >= run_start_->line.time_ms &&
        one.time_ms <= run_stop_->line.time_ms)
      return &one;
  return nullptr;
}

namespace {

/// Nothing for a number that cannot count samples.
std::optional<double> count_of(double samples) {
  return std::isfinite(samples) && samples >= 0.0 ? std::optional(samples) : std::nullopt;
}

}  // namespace

std::optional<double> TrainingLog::samples_at(const LoggedEvaluation& evaluation) const {
  if (evaluation.samples) return count_of(*evaluation.samples);
  if (!evaluation.epochs) return {};
  if (goal_.samples_per_epoch) return count_of(*evaluation.epochs * *goal_.samples_per_epoch);
  const auto all = said_.find("train_samples");
  if (all == said_.end() || !all->second.is_number()) return {};
  return count_of(*evaluation.epochs * all->second.get<double>());
}

std::optional<Seconds> TrainingLog::time_at(const LoggedEvaluation& evaluation) const {
  if (!run_start_) return {};
  return Seconds{1e-3 * static_cast<double>(evaluation.time_ms - run_start_->line.time_ms)};
}

TrainingLog::Throughput TrainingLog::throughput() const {
  if (!throughputs_.empty()) return {throughputs_, "tracked_stats"};
  Throughput found{{}, "evaluations"};
  double samples = 0.0, seconds = 0.0;
  for (const LoggedEvaluation& one : evaluations_) {
    const auto now = samples_at(one);
    const auto time = time_at(one);
    if (!now || !time || !(*now > samples) || !(time->value > seconds)) continue;
    const double speed = (*now - samples) / (time->value - seconds);
    if (std::isfinite(speed)) found.values.push_back(speed);
    samples = *now;
    seconds = time->value;
  }
  return found;
}

}  // namespace bench::external
