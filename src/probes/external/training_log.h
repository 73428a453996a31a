// What the MLLOG lines of one training say, gathered line by line: MLPerf's clock, evaluations,
// throughput and where the time went. Knows nothing of processes; the lines may come from any rank,
// twice, and out of order in time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/mllog.h"
#include "core/units.h"

namespace bench::external {

/// How evaluations are judged.
struct Goal {
  std::string key = "eval_accuracy";
  std::optional<double> target = {};
  bool lower_is_better = false;
  std::optional<double> samples_per_epoch = {};  // where evaluations are counted in epochs

  /// Whether it is reached. Not by NaN, and not where there is none.
  bool met_by(double value) const;
  /// How far `value` is from the target; zero or less: reached. NaN where there is none.
  double gap(double value) const;
};

/// A line and when its rank read it.
struct LoggedLine {
  MllogLine line;
  int rank = 0;
  std::int64_t arrived_ns = 0;  // UTC, by the clock of its rank's host
  Seconds arrived = {};         // since the ranks began, by the steady one
};

struct LoggedEvaluation {
  double value = 0.0;  // may be NaN
  std::int64_t time_ms = 0;
  std::optional<double> samples = {};  // as logged
  std::optional<double> epochs = {};
  std::optional<double> loss = {};  // of training, as logged last before it
};

/// A part of the run and its seconds.
struct LoggedPhase {
  std::string phase;
  Seconds time;
};

class TrainingLog {
 public:
  explicit TrainingLog(Goal goal) : goal_(std::move(goal)) {}

  void add(const LoggedLine& logged);
  /// A text with the token that is no line. Where no object follows the token somebody just used
  /// the word (a reference implementation prints ":::MLLOG Weight initialization"): counted apart.
  void add_trouble(std::string_view text, const std::string& trouble);

  const Goal& goal() const { return goal_; }
  std::size_t lines() const { return lines_; }
  std::size_t troubles() const { return troubles_; }
  std::size_t mentions() const { return mentions_; }  // of the token, without a line
  /// Values beyond what is kept of one log: a hostile or broken one must not fill a record.
  std::size_t dropped() const { return dropped_; }
  const std::string& first_trouble() const { return first_trouble_; }

  /// The first of each.
  const std::optional<LoggedLine>& run_start() const { return run_start_; }
  const std::optional<LoggedLine>& run_stop() const { return run_stop_; }
  /// Of run_stop: "success", "aborted", ... "" where it says nothing. "success" only where no rank
  /// said otherwise.
  const std::string& status() const { return status_; }
  /// Run_start to run_stop; nothing without both.
  std::optional<Seconds> run_time() const;
  /// First init_start to run_start.
  std::optional<Seconds> init_time() const;

  /// In order of arrival; one that several ranks logged stands once.
  const std::vector<LoggedEvaluation>& evaluations() const { return evaluations_; }
  /// The first that met the target, between run_start and run_stop; null without one.
  const LoggedEvaluation* meeting() const;
  /// Samples trained on at an evaluation: as logged; else epochs times samples of an epoch, as
  /// given, else as logged as train_samples.
  std::optional<double> samples_at(const LoggedEvaluation& evaluation) const;
  /// Since run_start.
  std::optional<Seconds> time_at(const LoggedEvaluation& evaluation) const;

  /// Samples per second: as tracked_stats say, else between evaluations, their own time included.
  struct Throughput {
    std::vector<double> values = {};
    std::string source = {};  // "tracked_stats", "evaluations"
  };
  Throughput throughput() const;

  /// init (before run_start), then train, evaluation and other, which add up to the run. Training
  /// is inside a block or an epoch and outside of evaluations. Empty without a whole run.
  std::vector<LoggedPhase> breakdown() const;

  /// The first value, a number or a short text, of each key that says something once:
  /// global_batch_size, ...
  const std::map<std::string, Json>& said() const { return said_; }
  /// All different ones; ranks may have seeds of their own.
  const std::vector<Json>& seeds() const { return seeds_; }

 private:
  using Interval = std::pair<std::int64_t, std::int64_t>;  // ms

  void add_interval(const LoggedLine& logged);
  void add_evaluation(const MllogLine& line);
  void add_stop(const LoggedLine& logged);
  void add_statistics(const Json& value);
  void add_said(const MllogLine& line);

  Goal goal_;
  std::size_t lines_ = 0, troubles_ = 0, mentions_ = 0, dropped_ = 0;
  std::string first_trouble_;
  std::optional<std::int64_t> init_start_ms_;
  std::optional<LoggedLine> run_start_, run_stop_;
  std::string status_;
  std::vector<LoggedEvaluation> evaluations_;
  std::set<std::pair<double, double>> evaluated_;  // (samples, epochs); -1 for none
  std::vector<double> throughputs_;
  std::optional<double> loss_;
  std::map<std::pair<std::string, int>, std::int64_t> open_;  // (kind, rank) -> begin
  std::vector<Interval> training_, evaluating_;
  std::map<std::string, Json> said_;
  std::vector<Json> seeds_;
};

}  // namespace bench::external
