// The contents of one training's MLLOG lines, collected line by line: MLPerf's clock, evaluations,
// throughput and time breakdown. The lines may come from any rank, twice, and out of order in
// time.
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
  std::optional<double> samples_per_epoch = {};  // if evaluations count epochs

  /// Whether the target is reached; false for NaN and without a target.
  bool met_by(double value) const;
  /// Distance of `value` from the target; zero or less: reached. NaN without a target.
  double gap(double value) const;
};

/// A line and when its rank read it.
struct LoggedLine {
  MllogLine line;
  int rank = 0;
  std::int64_t arrived_ns = 0;  // UTC, by the clock of its rank's host
  Seconds arrived = {};         // since the ranks began, by the steady clock
};

struct LoggedEvaluation {
  double value = 0.0;  // may be NaN
  std::int64_t time_ms = 0;
  std::optional<double> samples = {};  // as logged
  std::optional<double> epochs = {};
  std::optional<double> loss = {};  // of training, the last one logged before
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
  /// A text with the token that is not a line. Without an object after the token it only mentions
  /// the word (a reference implementation prints ":::MLLOG Weight initialization"): counted apart.
  void add_trouble(std::string_view text, const std::string& trouble);

  const Goal& goal() const { return goal_; }
  std::size_t lines() const { return lines_; }
  std::size_t troubles() const { return troubles_; }
  std::size_t mentions() const { return mentions_; }  // of the token, without a line
  /// Values beyond the limits of one log: a broken log must not fill a record.
  std::size_t dropped() const { return dropped_; }
  const std::string& first_trouble() const { return first_trouble_; }

  /// The first of each.
  const std::optional<LoggedLine>& run_start() const { return run_start_; }
  const std::optional<LoggedLine>& run_stop() const { return run_stop_; }
  /// Of run_stop: "success", "aborted", ...; "" for none. "success" only if no rank logged another.
  const std::string& status() const { return status_; }
  /// From run_start to run_stop; empty without both.
  std::optional<Seconds> run_time() const;
  /// From the first init_start to run_start; empty if it comes later.
  std::optional<Seconds> init_time() const;

  /// In order of arrival; one that several ranks logged appears once.
  const std::vector<LoggedEvaluation>& evaluations() const { return evaluations_; }
  /// The first that met the target, between run_start and run_stop; null without one.
  const LoggedEvaluation* meeting() const;
  /// Samples trained on at an evaluation: as logged; else epochs times the given samples per epoch,
  /// else times the logged train_samples. Empty for a number below zero or beyond all.
  std::optional<double> samples_at(const LoggedEvaluation& evaluation) const;
  /// Since run_start.
  std::optional<Seconds> time_at(const LoggedEvaluation& evaluation) const;

  /// Samples per second: from tracked_stats, else between evaluations, including their own time.
  struct Throughput {
    std::vector<double> values = {};
    std::string source = {};  // "tracked_stats", "evaluations"
  };
  Throughput throughput() const;

  /// init (before run_start), then train, evaluation and other, which add up to the run. Training
  /// is inside a block or an epoch and outside of evaluations. Empty without a whole run.
  std::vector<LoggedPhase> breakdown() const;

  /// The first value, a number or a short text, of each key that is logged once: global_batch_size,
  /// ...
  const std::map<std::string, Json>& said() const { return said_; }
  /// All distinct ones; ranks may have their own.
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
