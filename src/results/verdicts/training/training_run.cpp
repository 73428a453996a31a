#include "results/verdicts/training/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/names.h"
#include "results/run/chunk_table.h"
#include "results/run/job_results.h"
#include "results/run/series.h"
#include "results/run/series_telemetry.h"

namespace bench {
namespace {

// Records of each training job, by topic.

/// The last records of a job.
struct TrainingRecords {
  Json facts = Json::object();  // all of topic "training", the later over the earlier
  std::map<std::string, const Chunk*> chunks = {};          // by name
  std::map<std::int64_t, TrainingSlowdown> slowdowns = {};  // by first step
  bool out_of_memory = false;
};

constexpr double kMostSamples = 1e18;

std::map<std::string, TrainingRecords> training_records(const RunRecords& run) {
  std::map<std::string, TrainingRecords> by_job;
  for (const Record& record : run.records) {
    const auto* facts = std::get_if<Facts>(&record.body);
    if (facts != nullptr && facts->topic == "training" && facts->facts.is_object())
      by_job[record.job].facts.update(facts->facts);
    if (const auto* chunk = std::get_if<Chunk>(&record.body))
      by_job[record.job].chunks[chunk->name] = chunk;
    const auto* event = std::get_if<Event>(&record.body);
    if (event != nullptr && event->key == kTrainingSlowdownEvent)
      if (const auto slowdown = training_slowdown_from(event->value))
        by_job[record.job].slowdowns[slowdown->first] = *slowdown;
    if (event != nullptr && event->key == kOutOfMemoryEvent)
      by_job[record.job].out_of_memory = true;
  }
  return by_job;
}

std::vector<CurvePoint> curve_of(const TrainingRecords& records) {
  std::vector<CurvePoint> curve;
  const ChunkTable table(records.chunks, "curve");
  for (std::size_t i = 0; i < table.rows("samples"); ++i) {
    const CurvePoint point{table.number("samples", i), table.number("seconds", i),
                           table.number("gap", i), table.number("native", i)};
    const bool drawn = point.samples >= 0.0 && point.samples < kMostSamples;
    if (drawn && std::isfinite(point.gap)) curve.push_back(point);
  }
  return curve;
}

std::vector<TrainingMemory> memory_of(const TrainingRecords& records) {
  std::vector<TrainingMemory> memory;
  const ChunkTable table(records.chunks, "memory");
  for (std::size_t i = 0; i < table.rows("label"); ++i)
    memory.push_back({table.text("label", i), table.number("bytes", i)});
  return memory;
}

// Energy of a training, as far as the host reports it.

std::optional<SeriesTelemetry> telemetry_of(const std::vector<Series>& all,
                                            const TelemetryIndex& index) {
  for (const Series& series : all)
    if (auto found = index.of(series)) return found;
  return {};
}

double gpu_joules(const SeriesTelemetry& telemetry) {
  double sum = telemetry.gpus.empty() ? kNoValue : 0.0;
  for (const GpuTelemetry& gpu : telemetry.gpus) sum += gpu.energy_j;
  return sum;
}

/// Sets energy_j and energy_of. Telemetry covers only the first host, so multi-host trainings have
/// none.
void add_energy(TrainingRun& run, const std::vector<Series>& series,
                const TelemetryIndex& telemetry) {
  const auto found = telemetry_of(series, telemetry);
  if (!found) {
    run.energy_of = "the run had no telemetry";
    return;
  }
  if (run.setup.on.size() > 1) {
    run.energy_of = "telemetry covers only the first host";
    return;
  }
  const double cpu = found->cpu_power_w * found->seconds;
  const double gpus = gpu_joules(*found);
  if (!std::isfinite(cpu) && !std::isfinite(gpus)) {
    run.energy_of = "no readable power counter";
    return;
  }
  run.energy_j = (std::isfinite(cpu) ? cpu : 0.0) + (std::isfinite(gpus) ? gpus : 0.0);
  const std::string what = !std::isfinite(gpus)  ? "CPU packages"
                           : !std::isfinite(cpu) ? "GPUs"
                                                 : "CPU packages and GPUs";
  run.energy_of = fmt::format("{}, over the {} s of the {}", what, std::round(found->seconds),
                              found->phase == "job" ? "whole job" : "phase " + found->phase);
}

void add_checks(TrainingRun& run) {
  for (const Json& check : array_field(run.facts, "checks")) {
    ++run.checks;
    const Json& held = field(check, "held");
    if (held.is_boolean() && held.get<bool>()) continue;
    run.faults.push_back({text_field(check, "check", "unnamed check"),
                          text_field(check, "text", "no result reported")});
  }
}

/// Why a reported convergence is not credible; "" if it is.
std::string why_not_credible(const TrainingRun& run) {
  if (!std::isfinite(run.quality)) return "reports convergence without a quality";
  if (!std::isfinite(run.setup.target)) return "reports convergence without a target";
  if (!(run.quality <= run.setup.target))
    return fmt::format("reports convergence at a gap of {:.4g}, above the target of {:.4g}",
                       run.quality, run.setup.target);
  if (!(run.seconds_to_target > 0.0) || !std::isfinite(run.seconds_to_target))
    return "reports convergence without a time to target";
  // External logs may not count samples.
  if (run.samples_to_target <= 0.0) return "reports convergence after zero samples";
  return "";
}

std::string gap_reached(const TrainingRun& run) {
  if (!std::isfinite(run.quality)) return "no quality reported";
  if (!std::isfinite(run.setup.target))
    return fmt::format("final gap {:.4g}, no target", run.quality);
  return fmt::format("final gap {:.4g}, target {:.4g}", run.quality, run.setup.target);
}

void judge_quality(TrainingRun& run) {
  const Json& converged = field(run.facts, "converged");
  if (!run.setup.to_target()) {
    run.state =
        std::isfinite(run.items_per_second) ? TrainingState::timed_steps : TrainingState::failed;
    if (run.state == TrainingState::failed) run.reason = "no throughput reported";
    return;
  }
  run.state = TrainingState::not_converged;
  if (!converged.is_boolean())
    run.state = TrainingState::failed, run.reason = "convergence not reported";
  else if (!converged.get<bool>())
    run.reason = gap_reached(run);
  else if (run.reason = why_not_credible(run); run.reason.empty())
    run.state = TrainingState::converged;
  else
    run.state = TrainingState::invalid;
}

}  // namespace

void judge(TrainingRun& run, const JobResult& job) {
  add_checks(run);
  run.reason = job.reason;
  if (job.not_run || job.outcome == Status::skipped) return;  // state not_run
  if (job.outcome == Status::invalid || !run.faults.empty()) {
    run.state = TrainingState::invalid;
    if (!run.faults.empty()) run.reason = fault_words(run.faults.front());
  } else if (job.outcome == Status::ok) {
    judge_quality(run);
  } else {
    run.state = TrainingState::failed;
  }
}

std::string fault_words(const TrainingFault& fault) { return fault.check + ": " + fault.text; }

std::string own_reason(const TrainingRun& run) {
  const bool of_fault = !run.faults.empty() && run.reason == fault_words(run.faults.front());
  return of_fault ? "" : run.reason;
}

std::string_view to_string(TrainingState state) {
  using enum TrainingState;
  static constexpr NameTable<TrainingState, 6> kNames{{{{converged, "converged"},
                                                        {not_converged, "not_converged"},
                                                        {invalid, "invalid"},
                                                        {failed, "failed"},
                                                        {timed_steps, "timed_steps"},
                                                        {not_run, "not_run"}}}};
  return kNames.name(state);
}

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
  setup.sample_budget = std::max<std::int64_t>(0, integer_field(job.params, "sample_budget"));
  setup.target = number_field(facts, "target", number_field(job.params, "target"));
  setup.params = job.params;
  if (setup.params.is_object()) {
    setup.params.erase("seed");
    // Runs from before there were profiles, exchanges and offload are of the same setup.
    if (field(setup.params, "profile") == Json(false)) setup.params.erase("profile");
    if (field(setup.params, "offload").is_null()) setup.params.erase("offload");
    if (field(setup.params, "exchange") == Json("full"))
      for (const char* name : {"exchange", "topk_share", "powersgd_rank", "local_steps",
                               "outer_rate", "outer_momentum"})
        setup.params.erase(name);
  }
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
      run.clean = series.clean > 0;
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
  run.resumed_from =
      std::max<std::int64_t>(0, integer_field(job_records.facts, "resumed_from_step"));
  run.curve = curve_of(job_records);
  if (const auto found = job_records.chunks.find("breakdown"); found != job_records.chunks.end())
    run.breakdown = TrainingBreakdown(found->second);
  run.shares = time_shares(run.breakdown, static_cast<int>(run.setup.ranks), job_records.facts);
  run.memory = memory_of(job_records);
  run.out_of_memory = job_records.out_of_memory;
  for (const auto& [first, slowdown] : job_records.slowdowns) run.slowdowns.push_back(slowdown);
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
