#include "results/run/series_telemetry.h"

#include <algorithm>
#include <cmath>

#include "core/fields.h"
#include "core/json_fields.h"

namespace bench {
namespace {

/// The energy counter is read once a second: shorter phases integrate the power instead.
constexpr double kEnergyCounterSeconds = 10.0;
constexpr int kMostGpus = 64;

const Json& column(const Json& sources, const std::string& source, const char* name) {
  return field(field(sources, source.c_str()), name);
}

Spread spread(const Json& summary) {
  return {number_field(summary, "min"), number_field(summary, "mean"),
          number_field(summary, "max")};
}

/// NVML counts the time in each throttle reason; readings of the bits only sample it.
void set_counted_shares(const Json& slow, std::map<std::string, double>& reasons) {
  for (const auto& [reason, counter] : {std::pair{"sw_power_cap", "throttled_power_s"},
                                        std::pair{"sw_thermal", "throttled_software_thermal_s"},
                                        std::pair{"hw_thermal", "throttled_hardware_thermal_s"},
                                        std::pair{"hw_power_brake", "throttled_power_brake_s"}}) {
    const double share = number_field(field(slow, counter), "mean");
    if (!std::isfinite(share)) continue;
    if (share > 0.0)
      reasons[reason] = std::min(share, 1.0);
    else
      reasons.erase(reason);
  }
}

double energy(const Json& sources, const std::string& name, double seconds) {
  const double counted = number_field(column(sources, name + ".slow", "energy_j"), "total");
  const double integrated = number_field(column(sources, name + ".fast", "power_w"), "energy_j");
  const bool count = seconds >= kEnergyCounterSeconds || !std::isfinite(integrated);
  return count && std::isfinite(counted) ? counted : integrated;
}

const Json& gpu_facts(const Json* gpus, int index) {
  static const Json none;
  if (gpus == nullptr) return none;
  for (const Json& gpu : array_field(*gpus, "gpus"))
    if (integer_field(gpu, "index", -1) == index) return gpu;
  return none;
}

GpuTelemetry gpu_telemetry(const Json& sources, const Json* gpus, int index, double seconds) {
  const std::string name = "gpu" + std::to_string(index);
  const Json& facts = gpu_facts(gpus, index);
  GpuTelemetry gpu{.gpu = index,
                   .uuid = text_field(facts, "uuid"),
                   .sm_clock_hz = spread(column(sources, name + ".fast", "sm_clock_hz")),
                   .power_w = spread(column(sources, name + ".fast", "power_w")),
                   .power_limit_w = number_field(facts, "power_limit_enforced_w")};
  const std::string slow = name + ".slow";
  gpu.temperature_c = number_field(column(sources, slow, "temperature_c"), "max");
  gpu.memory_temperature_c = number_field(column(sources, slow, "memory_temperature_c"), "max");
  gpu.energy_j = energy(sources, name, seconds);
  const Json& bits = column(sources, name + ".fast", "event_reasons");
  for (const auto& [reason, share] : object_field(bits, "shares").items())
    if (share.is_number()) gpu.reasons[reason] = share.get<double>();
  set_counted_shares(field(sources, slow.c_str()), gpu.reasons);
  return gpu;
}

void add_cpu(const Json& sources, SeriesTelemetry& telemetry) {
  const auto total = [&](const char* name) {
    return number_field(column(sources, "host.cpu", name), "total");
  };
  const double all = total("all_s");
  const auto share = [all](double part) { return all > 0.0 ? part / all : kNoValue; };
  telemetry.cpu_busy_share = share(total("busy_s"));
  telemetry.cpu_steal_share = share(total("steal_s"));
  telemetry.cpu_iowait_share = share(total("iowait_s"));
  double watts = 0.0;
  for (const auto& [zone, summary] : object_field(sources, "host.power").items())
    watts += number_field(summary, "mean");
  telemetry.cpu_power_w = object_field(sources, "host.power").empty() ? kNoValue : watts;
}

void add_errors(const Json& job_sources, GpuTelemetry& gpu) {
  const std::string health = "gpu" + std::to_string(gpu.gpu) + ".health";
  for (const auto& [name, summary] : object_field(job_sources, health.c_str()).items())
    if (const double total = number_field(summary, "total"); total > 0.0) gpu.errors[name] = total;
}

/// The sampling phase and the whole job; null if missing.
struct Phases {
  const Json* measure = nullptr;
  const Json* job = nullptr;
};

Phases phases_of(const Json& phases, const Json& params) {
  Phases found;
  for (const Json& phase : phases) {
    const std::string name = text_field(phase, "phase");
    if (name == "measure" && found.measure == nullptr && field(phase, "params") == params)
      found.measure = &phase;
    if (name == "job" && found.job == nullptr) found.job = &phase;
  }
  return found;
}

Json spread_json(const Spread& spread) {
  return {{"min", number_or_null(spread.min)},
          {"mean", number_or_null(spread.mean)},
          {"max", number_or_null(spread.max)}};
}

Json gpu_json(const GpuTelemetry& gpu) {
  return {{"gpu", gpu.gpu},
          {"uuid", text_or_null(gpu.uuid)},
          {"sm_clock_hz", spread_json(gpu.sm_clock_hz)},
          {"power_w", spread_json(gpu.power_w)},
          {"power_limit_w", number_or_null(gpu.power_limit_w)},
          {"temperature_c", number_or_null(gpu.temperature_c)},
          {"memory_temperature_c", number_or_null(gpu.memory_temperature_c)},
          {"energy_j", number_or_null(gpu.energy_j)},
          {"reasons", gpu.reasons},
          {"errors", gpu.errors}};
}

}  // namespace

TelemetryIndex::TelemetryIndex(const RunRecords& run) : run_(run) {
  for (const PlannedJob& job : run.jobs) {
    const auto hosts = static_cast<int>(std::max<std::size_t>(job.hosts.size(), 1));
    ranks_per_host_[job.id] = (std::max(job.ranks, 1) + hosts - 1) / hosts;
  }
  std::map<std::string, Entry> by_host;
  for (const Record& record : run.records) {
    const auto* facts = std::get_if<Facts>(&record.body);
    if (facts == nullptr) continue;
    Entry& host = by_host[record.host];
    // A process reports its device first, so GPU facts of an earlier process are dropped.
    if (facts->topic == "device") host = {nullptr, nullptr, &facts->facts};
    if (facts->topic == "gpus") host.gpus = &facts->facts;
    if (facts->topic == "telemetry") by_job_[record.job] = {&facts->facts, host.gpus, host.device};
  }
}

std::vector<int> TelemetryIndex::gpus_of(const Series& series, const Entry& entry) const {
  if (series.device == "host") return {};
  const auto ranks = ranks_per_host_.find(series.job);
  const int count = ranks == ranks_per_host_.end() ? 1 : std::min(ranks->second, kMostGpus);
  const std::string uuid = entry.device == nullptr ? "" : text_field(*entry.device, "id");
  if (count == 1 && entry.gpus != nullptr && !uuid.empty())
    for (const Json& gpu : array_field(*entry.gpus, "gpus"))
      if (text_field(gpu, "uuid") == uuid)
        return {static_cast<int>(integer_field(gpu, "index", 0) % kMostGpus)};
  std::vector<int> first;
  for (int i = 0; i < count; ++i) first.push_back(i);
  return first;
}

std::optional<SeriesTelemetry> TelemetryIndex::of(const Series& series) const {
  const auto found = by_job_.find(series.job);
  if (found == by_job_.end() || !series.record) return {};
  const auto& samples = std::get<Samples>(run_.records[*series.record].body);
  const Phases phases = phases_of(array_field(*found->second.facts, "phases"), samples.params);
  const Json* phase = phases.measure != nullptr ? phases.measure : phases.job;
  if (phase == nullptr) return {};
  const Json& sources = object_field(*phase, "sources");
  SeriesTelemetry telemetry{.phase = text_field(*phase, "phase"),
                            .seconds = number_field(*phase, "seconds")};
  add_cpu(sources, telemetry);
  for (const int gpu : gpus_of(series, found->second))
    if (sources.contains("gpu" + std::to_string(gpu) + ".fast"))
      telemetry.gpus.push_back(gpu_telemetry(sources, found->second.gpus, gpu, telemetry.seconds));
  if (phases.job != nullptr)
    for (GpuTelemetry& gpu : telemetry.gpus) add_errors(field(*phases.job, "sources"), gpu);
  return telemetry;
}

Json to_json(const std::optional<SeriesTelemetry>& telemetry) {
  if (!telemetry) return {};
  Json gpus = Json::array();
  for (const GpuTelemetry& gpu : telemetry->gpus) gpus.push_back(gpu_json(gpu));
  return {{"phase", telemetry->phase},
          {"seconds", number_or_null(telemetry->seconds)},
          {"cpu",
           {{"busy_share", number_or_null(telemetry->cpu_busy_share)},
            {"steal_share", number_or_null(telemetry->cpu_steal_share)},
            {"iowait_share", number_or_null(telemetry->cpu_iowait_share)},
            {"power_w", number_or_null(telemetry->cpu_power_w)}}},
          {"gpus", gpus}};
}

}  // namespace bench
