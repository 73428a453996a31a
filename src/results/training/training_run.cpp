#include "results/training/training_run.h"

#include <algorithm>
#include <cmath>

#include "results/job_results.h"
#include "results/series.h"
#include "results/series_telemetry.h"
#include "results/training/training_energy.h"
#include "results/training/training_records.h"
#include "results/training/training_state.h"

namespace bench {
namespace {

constexpr std::int64_t kMostLanes = 1'000'000;

std::int64_t count_of(const Json& facts, const Json& params, const char* key,
                      std::int64_t otherwise) {
  const std::int64_t requested = integer_field(params, key, otherwise);
  const std::int64_t actual = integer_field(facts, key, requested);
  return actual >= 0 ? actual : otherwise;
}

std::string word_of(const Json& facts, const Json& params, const char* key) {
  return text_field(facts, key, text_field(params, key));
}

TrainingSetup setup_of(const Json& facts, const PlannedJob& job) {
  TrainingSetup setup;
  setup.workload = word_of(facts, job.params, "workload");
  setup.preset = word_of(facts, job.params, "preset");
  setup.dtype = word_of(facts, job.params, "dtype");
  setup.device = job.device;
  setup.batch = count_of(facts, job.params, "batch", 0);
  setup.lanes = std::min(kMostLanes, count_of(facts, job.params, "lanes", 0));
  setup.ranks = std::max(job.ranks, 1);
  setup.steps = std::max<std::int64_t>(0, integer_field(job.params, "steps"));
  setup.target = number_field(facts, "target", number_field(job.params, "target"));
  setup.params = job.params;
  if (setup.params.is_object()) setup.params.erase("seed");
  setup.on = job.hosts;
  return setup;
}

/// 0 among the parameters: the job's own.
std::uint64_t seed_of(const Json& facts, const PlannedJob& job) {
  for (const Json* seed : {&field(facts, "seed"), &field(job.params, "seed")})
    if (seed->is_number_unsigned() && *seed != 0) return seed->get<std::uint64_t>();
  return job.seed;
}

void add_series(TrainingRun& run, const std::vector<Series>& all) {
  for (const Series& series : all) {
    const std::string name = series.metric.substr(series.metric.rfind('.') + 1);
    if (series.outcome != Status::ok || !std::isfinite(series.median)) continue;
    if (name == "items_per_second") {
      run.items_per_second = series.median;
      run.items_low = series.low;
      run.items_high = series.high;
    } else if (name == "mfu") {
      run.mfu[text_field(series.params, "peak")] = series.median;
    } else if (name == "step_time") {
      run.step_median = series.median;
      run.step_p95 = series.p95;
    } else if (name == "time_to_target") {
      run.seconds_to_target = series.median;
    } else if (name == "samples_to_target") {
      run.samples_to_target = series.median;
    } else if (name == "quality") {
      run.quality = series.median;
    }
  }
}

TrainingRun training_run(const RunRecords& records, const JobResult& job,
                         const TrainingRecords& job_records, const std::vector<Series>& series,
                         const TelemetryIndex& telemetry) {
  TrainingRun run;
  run.run = records.run;
  run.job = job.job.id;
  run.facts = job_records.facts;
  run.setup = setup_of(job_records.facts, job.job);
  run.seed = seed_of(job_records.facts, job.job);
  run.quality = number_field(job_records.facts, "quality");
  run.samples_to_target = number_field(job_records.facts, "samples_to_target");
  run.seconds_to_target = number_field(job_records.facts, "seconds_to_target");
  run.init_seconds = number_field(job_records.facts, "init_seconds");
  run.curve = curve_of(job_records);
  run.breakdown = breakdown_of(job_records);
  run.memory = memory_of(job_records);
  run.straggler_spread = number_field(job_records.facts, "straggler_spread");
  add_series(run, series);
  add_energy(run, series, telemetry);
  judge(run, job);
  return run;
}

}  // namespace

std::string key_of(const TrainingSetup& setup) {
  return dump(Json::array({setup.params, setup.device, setup.ranks, setup.on}));
}

std::string scaling_key_of(const TrainingSetup& setup) {
  Json params = setup.params;
  if (params.is_object()) params.erase("batch");
  return dump(Json::array({params, setup.device, setup.dtype, setup.target}));
}

std::vector<TrainingRun> training_runs(const RunRecords& run) {
  const auto jobs = job_results(run);
  const SeriesOfJobs series(run, jobs);
  const TelemetryIndex telemetry(run);
  auto by_job = training_records(run);
  std::vector<TrainingRun> runs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    TrainingRecords& records = by_job[jobs[i].job.id];
    if (jobs[i].job.probe != "training" && records.facts.empty()) continue;
    runs.push_back(training_run(run, jobs[i], records, series.of(i), telemetry));
  }
  return runs;
}

}  // namespace bench
