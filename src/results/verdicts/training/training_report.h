// Report over several trainings: those of one setup, differing only in the seed, give the time to
// train with its interval; setups differing in ranks give scaling.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "results/stats/olympic_mean.h"
#include "results/store/store.h"
#include "results/verdicts/diagnosis/diagnosis.h"
#include "results/verdicts/profile/step_profile.h"
#include "results/verdicts/training/batch_ladder.h"
#include "results/verdicts/training/training_run.h"
#include "results/verdicts/training/training_scaling.h"

namespace bench {

/// The fastest GEMM measured with the resources of one training.
struct MeasuredPeak {
  double flops = kNoValue;  // a second
  std::string source;       // the run and series, or why there is none
};
/// `setup.on` are hosts, each with setup.ranks / hosts ranks of setup.lanes threads or a GPU.
using PeakFinder = std::function<MeasuredPeak(const TrainingSetup&)>;

struct TrainingGroup {
  TrainingSetup setup;
  Json facts = Json::object();  // topic "training" of the first run that has it
  std::vector<TrainingRun> runs;
  OlympicMean time;              // seconds to the target
  std::size_t resumed = 0;       // runs that resumed from a checkpoint
  bool resumed_counted = false;  // whether they are in `time` and `seconds`
  Variation seconds, samples;
  double items_per_second = kNoValue;  // of all ranks, the median over runs
  double items_low = kNoValue, items_high = kNoValue;
  std::string items_interval = {};  // meaning of low and high
  double mfu = kNoValue;            // the median over runs, of the peak in the facts ("peak_flops")
  double flops = kNoValue;          // of the model, a second, at items_per_second
  MeasuredPeak gemm = {};
  std::vector<TrainingPhase> breakdown = {};  // of all runs together
  std::vector<TrainingMemory> memory = {};    // the most of any run
  double straggler_spread = kNoValue;         // the largest of any run
  double energy_j = kNoValue;                 // the mean over the runs that report it (was_timed)
  std::string energy_of = {};                 // of what, by the last of these; or why there is none
};

/// What limited the trainings, loaders and checkpoints of one run.
struct DiagnosedRun {
  std::string run;
  std::vector<diagnosis::Diagnosed> diagnoses;
};

struct TrainingReport {
  std::vector<TrainingGroup> groups;  // in the order of appearance
  std::vector<Scaling> scalings;
  std::vector<BatchLadder> batch_ladders;
  std::vector<DiagnosedRun> diagnosed;  // those with anything to diagnose
  std::vector<StepProfile> profiles;    // of all jobs that were profiled
  std::vector<std::string> runs;        // ids of the runs they are from
  std::vector<std::string> warnings;
  bool interrupted = false;
  /// 130 if interrupted; 1 if a training did not converge or a check failed, even if the mean
  /// tolerates it; 3 if one failed or was not run, or there is neither a training nor a valid
  /// diagnosis; else 0.
  ExitCode exit_code = ExitCode::not_measured;
};

/// Whether runs that resumed from a checkpoint count in times to train.
enum class Resumed { left_out, counted };

TrainingReport make_training_report(std::span<const RunRecords> runs, const PeakFinder& peak = {},
                                    Resumed resumed = Resumed::left_out);

/// Samples to the target of the converged runs.
std::vector<double> samples_of(const TrainingGroup& group);
/// It ended with a usable throughput.
bool was_timed(const TrainingRun& run);
/// Whether this is an external training reported from its own log (the probe `external`).
bool is_external(const TrainingGroup& group);
/// A training of benchctl on files that its job names.
bool on_files(const TrainingGroup& group);

// What the runs of one setup took, put together: throughput, phases, memory, energy.

/// Sets the group's values derived from its runs, except the time to target. Uses only runs that
/// count (was_timed).
void merge_runs(TrainingGroup& group);

// The fastest GEMM that `benchctl run gemm` measured on the hosts of a training with the same
// number of threads: the practical peak, as opposed to a datasheet's.

/// The ok series of a metric on one host.
using SeriesFinder =
    std::function<std::vector<SeriesRow>(const std::string& metric, const std::string& host)>;

/// Over all hosts of the setup; for GPUs times the ranks per host. No value, with a reason, if a
/// host lacks that dtype and thread count.
MeasuredPeak measured_peak(const TrainingSetup& setup, const SeriesFinder& series);

}  // namespace bench
