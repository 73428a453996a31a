// One training, from the records of one job of the probe `training`. Field names are in
// docs/training.md; missing or corrupt fields have no value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/training_progress.h"
#include "results/run/job_results.h"
#include "results/run/run_records.h"
#include "results/run/training_breakdown.h"

namespace bench {

enum class TrainingState {
  converged,
  not_converged,  // ended before its quality reached the target
  invalid,        // a check failed: its time does not count
  failed,         // crashed, ran out of time, or measured nothing
  not_run,
  timed_steps  // limited by steps or samples, without a target
};
std::string_view to_string(TrainingState state);

struct CurvePoint {
  double samples = kNoValue;
  double seconds = kNoValue;  // by the clock of MLPerf: from the first touch of data
  double gap = kNoValue;
  double native = kNoValue;
};

struct TrainingMemory {
  std::string label;
  double bytes = kNoValue;
};

/// A check that did not hold.
struct TrainingFault {
  std::string check;
  std::string text;
};
std::string fault_words(const TrainingFault& fault);

/// Everything that must be equal for runs to differ only in the seed.
struct TrainingSetup {
  std::string workload, preset, dtype, device;
  std::int64_t batch = 0;  // samples of a step, over all ranks
  std::int64_t lanes = 0;  // threads of a rank
  std::int64_t ranks = 1;
  std::int64_t steps = 0;          // requested; 0: run to the target
  std::int64_t sample_budget = 0;  // requested; 0: none
  double target = kNoValue;        // the gap
  /// Whether it ran to a target or its horizon.
  bool to_target() const { return steps == 0 && sample_budget == 0; }
  Json params = Json::object();      // the job's parameters without the seed
  std::vector<std::string> on = {};  // hosts
};

/// Equal for runs with the same settings and hosts apart from the seed. Based on settings rather
/// than results, so crashed runs are included.
std::string key_of(const TrainingSetup& setup);
/// Equal for setups that differ only in ranks, hosts and batch: points of one scaling curve.
std::string scaling_key_of(const TrainingSetup& setup);

struct TrainingRun {
  std::string run, job;
  std::uint64_t seed = 0;
  TrainingSetup setup;
  TrainingState state = TrainingState::not_run;
  std::string reason = {};  // why it is not converged
  double quality = kNoValue;
  double samples_to_target = kNoValue;
  double seconds_to_target = kNoValue;
  double init_seconds = kNoValue;
  /// The step of the checkpoint it resumed from; 0: it trained in one piece. Its time is the sum of
  /// its processes, without what each trained after its last checkpoint.
  std::int64_t resumed_from = 0;
  double items_per_second = kNoValue;  // of all ranks: tokens or samples; the median of its windows
  double items_low = kNoValue, items_high = kNoValue;  // 95 % interval of that median
  bool clean = false;                                  // some of its windows are
  std::map<std::string, double> mfu = {};              // by the kind of peak: given, measured
  double step_median = kNoValue, step_p95 = kNoValue;
  /// Compute time of the slowest rank over the mean rank, minus 1.
  double straggler_spread = kNoValue;
  double energy_j = kNoValue;
  std::string energy_of = {};  // source and time span; or why it is unknown
  std::vector<CurvePoint> curve = {};
  TrainingBreakdown breakdown = {};
  TimeShares shares = {};
  std::vector<TrainingMemory> memory = {};
  bool out_of_memory = false;                    // it would not have fitted, and was not started
  std::vector<TrainingSlowdown> slowdowns = {};  // each as last reported, in order
  std::vector<TrainingFault> faults = {};
  std::size_t checks = 0;       // that were made
  Json facts = Json::object();  // topic "training"
};

/// Its reason, or "" if that is its first fault, for callers that list the faults.
std::string own_reason(const TrainingRun& run);

/// Jobs of a run whose probe is `training` or that have facts of that topic, in plan order. A run
/// converged if its job ended ok, reports convergence, every check held, and its quality, samples
/// and seconds are consistent numbers.
std::vector<TrainingRun> training_runs(const RunRecords& run);

// The final state of a training, checked against its reported values.

/// Sets state, reason, faults and checks from the job's end, the facts and the numbers that the run
/// already has.
void judge(TrainingRun& run, const JobResult& job);

}  // namespace bench
