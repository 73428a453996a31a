// The results of an external training as records: the same metrics, curve, breakdown and facts as
// of our own trainings, so that one report reads both.
#pragma once

#include <cstddef>

#include "core/mllog.h"
#include "probes/external/training_log.h"
#include "probes/external/verdict.h"
#include "probes/state.h"

namespace bench {

/// Stores the lines of the log as events, except tracked_stats, which are most of a log: their
/// throughput and loss are in the series and the curve.
class LoggedEvents {
 public:
  static constexpr std::size_t kMost = 20'000;

  explicit LoggedEvents(State& state) : state_(state) {}
  void add(const MllogLine& line);
  /// Lines that were not stored.
  std::size_t left_out() const { return left_out_; }

 private:
  State& state_;
  std::size_t kept_ = 0, left_out_ = 0;
};

/// Series, chunks, facts and the job's outcome. Called on rank 0.
void write_records(State& state, const external::TrainingLog& log, const external::FinishedRun& run,
                   const Conditions& conditions, const LoggedEvents& events);

}  // namespace bench
