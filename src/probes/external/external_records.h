// What a foreign training came to, as records: the same metrics, curve, breakdown and facts as of
// our own trainings, so that one report reads both.
#pragma once

#include <cstddef>

#include "core/mllog.h"
#include "probes/external/training_log.h"
#include "probes/external/verdict.h"
#include "probes/state.h"

namespace bench {

/// Keeps the lines of the log as they come, but for tracked_stats, which are most of a log: what
/// they say of throughput and loss stands in the series and the curve.
class LoggedEvents {
 public:
  static constexpr std::size_t kMost = 20'000;

  explicit LoggedEvents(State& state) : state_(state) {}
  void add(const MllogLine& line);
  /// Lines that are in no event.
  std::size_t left_out() const { return left_out_; }

 private:
  State& state_;
  std::size_t kept_ = 0, left_out_ = 0;
};

/// Series, chunks, facts and the job's end. Rank 0 calls it.
void write_records(State& state, const external::TrainingLog& log, const external::FinishedRun& run,
                   const LoggedEvents& events);

}  // namespace bench
