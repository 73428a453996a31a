#include "results/verdicts/diagnosis/run_view.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "core/order_statistics.h"
#include "core/record.h"
#include "results/run/counters.h"
#include "results/run/series_telemetry.h"

namespace bench::diagnosis {
namespace {

// Host and GPU measures of a job, from telemetry, facts and error counters.

/// Sources of the phase "job".
const Json& telemetry_sources(const RunView& view, const std::string& job) {
  for (const Json& phase : array_field(view.facts(job, "telemetry"), "phases"))
    if (text_field(phase, "phase") == "job") return object_field(phase, "sources");
  static const Json none = Json::object();
  return none;
}

std::optional<SeriesTelemetry> telemetry_of(const RunView& view, std::size_t job) {
  for (const Series& series : view.series(job))
    if (auto telemetry = view.telemetry().of(series)) return telemetry;
  return {};
}

void add_load(Observation& observation, const std::optional<SeriesTelemetry>& telemetry,
              const Json& host_facts) {
  if (telemetry) {
    observation.set(Measure::steal_share, telemetry->cpu_steal_share, "telemetry");
    observation.set(Measure::host_cpu_share, telemetry->cpu_busy_share, "telemetry");
  }
  const std::string probe = "reported by the probe";
  observation.set(Measure::steal_share, number_field(host_facts, "steal_share"), probe);
  observation.set(Measure::others_share, number_field(host_facts, "others_share"), probe);
  if (host_facts.contains("throttled_s"))  // null: there is no quota
    observation.set(Measure::throttled_s, number_field(host_facts, "throttled_s", 0.0), probe);
}

/// Increase of the named error counters of the run's hosts; nothing if none was read.
std::optional<double> counter_increase(const std::vector<HostCounter>& counters,
                                       std::initializer_list<std::string_view> names) {
  std::optional<double> sum;
  for (const HostCounter& counter : counters)
    if (counter.known && std::ranges::find(names, counter.rule->counter) != names.end())
      sum = sum.value_or(0.0) + counter.count;
  return sum;
}

/// The total of a counter of the job's GPUs, from telemetry.
double total_of_gpus(const Json& sources, const char* counter) {
  double sum = kNoValue;
  for (const auto& [source, columns] : sources.items()) {
    if (!source.ends_with(".health")) continue;
    const double total = number_field(field(columns, counter), "total");
    if (std::isfinite(total)) sum = (std::isfinite(sum) ? sum : 0.0) + total;
  }
  return sum;
}

void add_faults(Observation& observation, const RunView& view, const JobResult& job,
                const Json& sources) {
  const auto set = [&](Measure measure, std::initializer_list<std::string_view> names) {
    if (const auto count = counter_increase(view.counters(), names))
      observation.set(measure, *count, "host error counters");
  };
  set(Measure::host_errors, {"uncorrected", "machine_checks"});
  if (!observation.on_gpu) return;
  observation.set(Measure::ecc_uncorrected, total_of_gpus(sources, "ecc_uncorrected"), "telemetry");
  observation.set(Measure::remap_failures, total_of_gpus(sources, "remapped_rows_failed"),
                  "telemetry");
  set(Measure::ecc_uncorrected, {"ecc_uncorrected"});
  set(Measure::remap_failures, {"remapped_rows_failed"});
  const auto fatal = std::ranges::count_if(
      job.faults, [](const Json& fault) { return field(fault, "fatal") == Json(true); });
  observation.set(Measure::fatal_xids, static_cast<double>(fatal), "driver events");
}

void add_gpu_facts(Observation& observation, const RunView& view, const JobResult& job) {
  double width = kNoValue, resets = kNoValue;
  for (const std::string& host : job.job.hosts)
    for (const Json& gpu : array_field(view.facts_of_host(host, "gpus"), "gpus")) {
      width =
          std::fmin(width, number_field(gpu, "pcie_width") / number_field(gpu, "pcie_width_max"));
      if (const double action = number_field(gpu, "recovery_action"); std::isfinite(action))
        resets = std::fmax(resets, 0.0) + (action != 0.0 ? 1.0 : 0.0);
    }
  observation.set(Measure::pcie_width_share, width, "GPU facts");
  observation.set(Measure::recovery_actions, resets, "GPU facts");
}

/// The slowest clock of the job's GPUs over the median one; of one GPU over the highest it can.
double clock_share(const std::vector<GpuTelemetry>& gpus, const Json& facts) {
  std::vector<double> clocks;
  for (const GpuTelemetry& gpu : gpus)
    if (std::isfinite(gpu.sm_clock_hz.mean)) clocks.push_back(gpu.sm_clock_hz.mean);
  if (clocks.size() > 1) return std::ranges::min(clocks) / median(clocks);
  if (clocks.empty()) return kNoValue;
  for (const Json& gpu : array_field(facts, "gpus"))
    if (text_field(gpu, "uuid") == gpus.front().uuid)
      return clocks.front() / number_field(gpu, "sm_clock_max_hz");
  return kNoValue;
}

void add_clocks(Observation& observation, const std::vector<GpuTelemetry>& gpus,
                const Json& facts) {
  if (gpus.empty()) return;
  double hardware = 0.0, software = 0.0;
  for (const GpuTelemetry& gpu : gpus)
    for (const auto& [reason, share] : gpu.reasons) {
      if (reason == "hw_thermal" || reason == "hw_power_brake" || reason == "hw_slowdown")
        hardware = std::max(hardware, share);
      if (reason == "sw_thermal") software = std::max(software, share);
    }
  observation.set(Measure::hw_slowdown_share, hardware, "telemetry");
  observation.set(Measure::sw_thermal_share, software, "telemetry");
  observation.set(Measure::clock_share, clock_share(gpus, facts), "telemetry");
}

/// The mean over the job's GPUs, as if all of it fell into the passes.
void add_activity(Observation& observation, const std::vector<GpuTelemetry>& gpus,
                  const Json& sources) {
  const double passes = observation.value(Measure::passes_share);
  for (const auto& [measure, column] : {std::pair{Measure::sm_active, "sm_active"},
                                        std::pair{Measure::tensor_active, "tensor_active"},
                                        std::pair{Measure::dram_active, "dram_active"}}) {
    double sum = 0.0;
    for (const GpuTelemetry& gpu : gpus) {
      const std::string source = "gpu" + std::to_string(gpu.gpu) + ".activity";
      sum += number_field(field(field(sources, source.c_str()), column), "mean");
    }
    const double mean = sum / static_cast<double>(gpus.size());
    observation.set(measure, std::min(mean / passes, 1.0), "telemetry, scaled to the passes");
    if (!std::isfinite(mean))
      observation.set_missing(measure,
                              "not available: GPU does not expose it, or telemetry is off");
  }
}

}  // namespace

void add_host(Observation& observation, const RunView& view, std::size_t job,
              const Json& host_facts) {
  const JobResult& result = view.jobs()[job];
  const auto telemetry = telemetry_of(view, job);
  const Json& sources = telemetry_sources(view, result.job.id);
  add_load(observation, telemetry, host_facts);
  add_faults(observation, view, result, sources);
  if (!observation.on_gpu) return;
  add_gpu_facts(observation, view, result);
  const std::vector<GpuTelemetry> gpus = telemetry ? telemetry->gpus : std::vector<GpuTelemetry>();
  const std::string host = result.job.hosts.empty() ? "" : result.job.hosts.front();
  add_clocks(observation, gpus, view.facts_of_host(host, "gpus"));
  add_activity(observation, gpus, sources);
}

namespace {

const Json& found_in(const std::map<std::pair<std::string, std::string>, const Json*>& all,
                     const std::string& whose, const std::string& topic) {
  static const Json none = Json::object();
  const auto found = all.find({whose, topic});
  return found == all.end() || !found->second->is_object() ? none : *found->second;
}

bool holds_all(const Json& params, const Json& wanted) {
  for (const auto& [key, value] : wanted.items())
    if (field(params, key.c_str()) != value) return false;
  return true;
}

}  // namespace

RunView::RunView(const RunRecords& run)
    : run_(run), jobs_(job_results(run)), series_(run, jobs_), telemetry_(run) {
  CounterSums sums;
  for (const Record& record : run.records) {
    if (const auto* facts = std::get_if<Facts>(&record.body)) {
      facts_[{record.job, facts->topic}] = &facts->facts;
      host_facts_[{record.host, facts->topic}] = &facts->facts;
      if (facts->topic == "counters")
        for (const Json& host : array_field(facts->facts, "hosts")) sums.add(host, record.job, "");
    }
    if (const auto* chunk = std::get_if<Chunk>(&record.body))
      chunks_[{record.job, chunk->name}] = chunk;
  }
  counters_ = sums.counters();
}

const Json& RunView::facts(const std::string& job, const std::string& topic) const {
  return found_in(facts_, job, topic);
}

const Json& RunView::facts_of_host(const std::string& host, const std::string& topic) const {
  return found_in(host_facts_, host, topic);
}

const Chunk* RunView::chunk(const std::string& job, const std::string& name) const {
  const auto found = chunks_.find({job, name});
  return found == chunks_.end() ? nullptr : found->second;
}

std::vector<double> RunView::values(const Series& series) const {
  if (!series.record) return {};
  return std::get<Samples>(run_.records[*series.record].body).values;
}

bool is_of(const Series& series, const std::string& metric, const Json& params) {
  return series.outcome == Status::ok && series.metric.ends_with("." + metric) &&
         holds_all(series.params, params);
}

const Series* find_series(const std::vector<Series>& all, const std::string& metric,
                          const Json& params) {
  for (const Series& series : all)
    if (is_of(series, metric, params)) return &series;
  return nullptr;
}

double median_of(const std::vector<Series>& all, const std::string& metric, const Json& params) {
  const Series* found = find_series(all, metric, params);
  return found == nullptr ? kNoValue : found->median;
}

std::string source_of(const JobResult& job, const std::string& metric) {
  return job.job.case_name + ": " + metric;
}

}  // namespace bench::diagnosis
