#include "results/verdicts/acceptance/gate_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"

namespace bench {
namespace {

// Bytes copied by jobs to and from GPUs, for drivers without byte counters.

/// Copies between host and GPU, which use its PCIe link only.
bool copies_over_pcie(const Series& series) {
  const std::string route = text_field(series.params, "route");
  return series.metric == "copy.bandwidth" && series.ranks == 1 && series.outcome == Status::ok &&
         (route == "host_to_device" || route == "device_to_host" || route == "both");
}

}  // namespace

GpusOfJobs gpus_of_jobs(const RunRecords& run) {
  std::map<std::string, std::string> device;  // host -> device ID of its last process
  std::map<std::string, const Json*> gpus;
  GpusOfJobs found;
  for (const Record& record : run.records) {
    if (const auto* facts = std::get_if<Facts>(&record.body); facts != nullptr) {
      if (facts->topic == "device") device[record.host] = text_field(facts->facts, "id");
      if (facts->topic == "gpus") gpus[record.host] = &facts->facts;
    }
    if (!std::holds_alternative<Samples>(record.body) || found.contains(record.job)) continue;
    const auto known = gpus.find(record.host);
    if (known == gpus.end()) continue;
    for (const Json& gpu : array_field(*known->second, "gpus"))
      if (text_field(gpu, "uuid", "?") == device[record.host])
        found[record.job] = "gpu" + std::to_string(integer_field(gpu, "index", -1));
  }
  return found;
}

std::map<HostAcceptance*, Volumes> volumes_of(const GateContext& context) {
  std::map<HostAcceptance*, Volumes> volumes;
  for (std::size_t run = 0; run < context.reports.size(); ++run) {
    const RunSummary& report = context.reports[run];
    if (std::ranges::none_of(report.results,
                             [](const Result& result) { return copies_over_pcie(result.series); }))
      continue;
    const GpusOfJobs& gpus = context.gpus[run];
    std::map<std::string, double> seconds;
    for (const JobResult& job : report.jobs) seconds[job.job.id] = job.seconds;
    for (const Result& result : report.results) {
      const Series& series = result.series;
      const auto gpu = gpus.find(series.job);
      HostAcceptance* host = context.host(series.host);
      if (!copies_over_pcie(series) || gpu == gpus.end() || host == nullptr) continue;
      const double both = text_field(series.params, "route") == "both" ? 2.0 : 1.0;
      Volume& volume = volumes[host][gpu->second];
      volume.least += static_cast<double>(series.n) * static_cast<double>(series.repeats) * both *
                      number_field(series.params, "size_bytes", 0.0);
      volume.most += series.max * std::max(seconds[series.job], 0.0);
      volume.case_name = series.case_name;
    }
  }
  for (auto& [host, of_host] : volumes)
    for (auto& [gpu, volume] : of_host) volume.most = std::max(volume.most, volume.least);
  return volumes;
}

Reason reason_of(const MetricRuns& metric, Verdict verdict, const std::string& gate) {
  return {verdict, gate, metric.case_name, metric.metric, metric.params, metric.unit};
}

bool contains(const Hosts& hosts, const std::string& host) {
  return std::ranges::find(hosts, host) != hosts.end();
}

Unresolved unresolved_of(const MetricRuns& metric, Hosts hosts) {
  Unresolved one{metric.case_name, metric.metric, metric.params};
  one.promised = metric.resolution;
  one.hosts = std::move(hosts);
  return one;
}

std::optional<Reason> too_few_runs(const MetricRuns& metric, const Hosts& hosts,
                                   std::size_t fewest) {
  const std::size_t usable = metric.values(hosts).size();
  if (usable >= fewest) return {};
  Reason reason = reason_of(metric, Verdict::inconclusive, "coverage");
  std::string why = "not measured on this host";
  if (const auto runs = metric.by_hosts.find(hosts); runs != metric.by_hosts.end()) {
    why = "no further runs were requested";
    for (const Observation& seen : runs->second)
      if (!seen.usable) why = seen.why;
    reason.job = runs->second.front().job;
    reason.more_runs = true;
  }
  const std::string where = hosts.size() > 1 ? " of " + join(hosts, " and ") : "";
  reason.text =
      fmt::format("{}{}: {} of {} usable runs; {}", metric.title(), where, usable, fewest, why);
  reason.next_step = hosts.size() > 1 ? "rerun on idle hosts" : "rerun on an idle host";
  return reason;
}

}  // namespace bench
