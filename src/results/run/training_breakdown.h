// Where the time of a training went: its phases, from the chunk "breakdown" of its job, and the
// shares of time that follow from them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/record.h"

namespace bench {

/// A part of the steps, or of the time between them: forward, exchange_exposed, evaluation, ...
struct TrainingPhase {
  std::string phase;
  double seconds = 0.0;     // over the whole run, mean over ranks
  double share = kNoValue;  // of the run; none for what costs no time of its own
  std::string slowest_rank = {};
};

class TrainingBreakdown {
 public:
  TrainingBreakdown() = default;
  /// A null chunk is an empty breakdown; phases whose time is no number are left out.
  explicit TrainingBreakdown(const Chunk* chunk);

  bool empty() const { return phases_.empty(); }
  bool has(std::string_view phase) const;
  /// 0 for a phase that is absent.
  double seconds(std::string_view phase) const;
  /// From the first access to data to the end: all phases but `init` and what runs concurrently
  /// with others (exchange_hidden).
  double run_seconds() const;
  /// run_seconds() without evaluations and checks.
  double step_seconds() const;
  /// Communication that steps waited for: exposed gradient exchange, and exchanges
  /// within the passes of a divided model.
  double exposed_communication() const;
  double communication() const { return exposed_communication() + seconds("exchange_hidden"); }
  const std::vector<TrainingPhase>& phases() const { return phases_; }

 private:
  std::vector<TrainingPhase> phases_ = {};
};

/// Shares of the time of a training; kNoValue for what the records do not say.
struct TimeShares {
  double data_stall = kNoValue;             // waiting for data / time of steps
  double exposed_communication = kNoValue;  // communication that steps wait for / time of steps
  double overlap_ratio = kNoValue;  // communication concurrent with passes / all communication
  double goodput = kNoValue;        // time of steps without checkpoints / time from start to end
};

/// `facts`: of topic "training". Data stall is unknown where lookups in embedding tables count as
/// data time; goodput where the training resumed, as the time it had lost is unknown, and where
/// neither breakdown nor facts have the start-up. A rank alone waits for no communication, and has
/// no overlap. Logs of other trainings do not tell steps from what lies between them: none is
/// known.
TimeShares time_shares(const TrainingBreakdown& breakdown, int ranks, const Json& facts);

}  // namespace bench
