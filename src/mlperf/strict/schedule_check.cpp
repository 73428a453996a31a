// schedule.*: the evaluation schedule.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "mlperf/strict/subject.h"

namespace bench::mlperf {
namespace {

struct Point {
  double position = 0.0;               // samples or epochs
  std::optional<double> started = {};  // as logged in the preceding eval_start
  const LogEntry* entry = nullptr;
};

/// In order and without duplicates, because every rank may log an evaluation.
std::vector<Point> points_of(const Log& log, bool by_samples) {
  const char* name = by_samples ? "samples_count" : "epoch_num";
  std::map<double, Point> points;
  std::optional<double> started;
  for (const LogEntry& entry : log.entries) {
    if (entry.key == "eval_start") started = metadata_number(entry, name);
    if (entry.key != "eval_accuracy") continue;
    const std::optional<double> position = metadata_number(entry, name);
    if (position && std::isfinite(*position))
      points.try_emplace(*position, Point{*position, started, &entry});
  }
  std::vector<Point> result;
  for (const auto& [position, point] : points) result.push_back(point);
  return result;
}

/// The evaluation schedule by the rules.
struct Expected {
  bool by_samples = true;  // else by epochs
  std::optional<double> first = {};
  double step = 0.0;
};

std::optional<Expected> expected_of(const Subject& subject) {
  const Benchmark* benchmark = subject.benchmark();
  const std::optional<double> batch = subject.facts.global_batch_size;
  if (benchmark == nullptr || !benchmark->evaluation || !batch || !(*batch > 0))
    return std::nullopt;
  const std::optional<double> step = benchmark->evaluation->step(*batch);
  if (!step || !(*step > 0) || !std::isfinite(*step)) return std::nullopt;
  return Expected{benchmark->progress != "epoch_num", benchmark->evaluation->start(*batch), *step};
}

/// The index of the first evaluation that deviates from the schedule.
std::optional<std::size_t> first_sample_deviation(const std::vector<double>& positions,
                                                  const Expected& expected) {
  const double first = expected.first.value_or(positions.front());
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (positions[i] != first + static_cast<double>(i) * expected.step) return i;
  return std::nullopt;
}

/// An epoch is not a whole number of batches, and some implementations restart the count in each
/// epoch. So this only checks that no evaluation is missing and that there are not many more.
std::optional<std::size_t> first_epoch_deviation(const std::vector<double>& positions,
                                                 const Expected& expected) {
  constexpr double kSlack = 0.25;
  const double longest = (1 + kSlack) * expected.step;
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (positions[i] - (i == 0 ? 0.0 : positions[i - 1]) > longest) return i;
  const double mean = (positions.back() - positions.front()) /
                      static_cast<double>(std::max<std::size_t>(positions.size(), 2) - 1);
  if (positions.size() > 2 && mean < (1 - kSlack) * expected.step) return 1;
  return std::nullopt;
}

std::optional<std::size_t> first_deviation(const std::vector<double>& positions,
                                           const Expected& expected) {
  return expected.by_samples ? first_sample_deviation(positions, expected)
                             : first_epoch_deviation(positions, expected);
}

std::string text_of(const Expected& expected) {
  const char* unit = expected.by_samples ? "samples" : "epochs";
  if (!expected.first) return fmt::format("every {:.10g} {}", expected.step, unit);
  return fmt::format("after {:.10g} {}, then every {:.10g}", *expected.first, unit, expected.step);
}

/// "after 24576 samples, then every 24576"; the step of most evaluations, or their range.
std::string found_text(const std::vector<double>& positions, bool by_samples) {
  const char* unit = by_samples ? "samples" : "epochs";
  const std::string first = number_text(positions.front());
  if (positions.size() == 1) return fmt::format("a single evaluation after {} {}", first, unit);
  std::map<double, int> steps;
  for (std::size_t i = 1; i < positions.size(); ++i)
    ++steps[std::round((positions[i] - positions[i - 1]) * 1e4) / 1e4];
  const auto most = std::max_element(
      steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (steps.size() == 1)
    return fmt::format("after {} {}, then every {}", first, unit, number_text(most->first));
  if (2 * most->second <= static_cast<int>(positions.size()) - 1)
    return fmt::format("after {} {}, then in steps of {} to {}", first, unit,
                       number_text(steps.begin()->first), number_text(steps.rbegin()->first));
  return fmt::format("after {} {}, then mostly every {}", first, unit, number_text(most->first));
}

}  // namespace

void check_schedule(const Subject& subject, std::vector<Finding>& findings) {
  if (!subject.closed()) return;
  const std::optional<Expected> schedule = expected_of(subject);
  if (!schedule) return;
  const std::vector<Point> points = points_of(subject.log, schedule->by_samples);
  if (points.empty()) return;
  std::vector<double> positions, started;
  for (const Point& point : points) {
    positions.push_back(point.position);
    if (point.started) started.push_back(*point.started);
  }
  const std::optional<std::size_t> off = first_deviation(positions, *schedule);
  if (!off) return;
  // The evaluation may have run on schedule but logged another count.
  const bool miscounted = started.size() == points.size() && !first_deviation(started, *schedule);
  add_finding(
      findings, points[*off].entry, miscounted ? "schedule.samples_count" : "schedule.evaluation",
      Severity::warning,
      {text_of(*schedule), found_text(positions, schedule->by_samples),
       miscounted
           ? fmt::format("eval_start has {}, but its eval_accuracy has {}: the convergence test "
                         "uses the latter",
                         number_text(*points[*off].started), number_text(points[*off].position))
           : fmt::format("the evaluation schedule differs from the rules of {} for a global batch "
                         "of {}; the first deviation is at {}",
                         subject.rules.version,
                         number_text(subject.facts.global_batch_size.value_or(0)),
                         number_text(positions[*off])),
       "training_rules: Quality measure"});
}

}  // namespace bench::mlperf
