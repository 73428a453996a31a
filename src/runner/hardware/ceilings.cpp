#include "runner/hardware/ceilings.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "core/clean.h"
#include "core/order_statistics.h"

namespace bench {
namespace {

/// The ceiling's parameters under the names of the bounded metric; empty if one is missing.
std::optional<Json> renamed(const Json& params, const std::map<std::string, std::string>& where) {
  Json result = Json::object();
  for (const auto& [theirs, ours] : where) {
    if (!params.contains(theirs)) return {};
    result[ours] = params[theirs];
  }
  return result;
}

std::vector<KnownLimit>::iterator with_params(std::vector<KnownLimit>& limits, const Json& params) {
  return std::ranges::find_if(limits,
                              [&](const KnownLimit& limit) { return limit.params == params; });
}

bool beats(double value, double other, Better better) {
  return better == Better::lower ? value < other : value > other;
}

}  // namespace

Ceilings::Ceilings(const ProbeCatalogue& catalogue) : catalogue_(catalogue) {
  for (const ProbeEntry& probe : catalogue.all())
    for (const ProbeMetric& metric : probe.metrics)
      if (metric.ceiling) bounding_.emplace(metric.ceiling->probe, metric.ceiling->metric);
}

void Ceilings::observe(const Job& job, const Samples& samples) {
  if (!bounding_.contains({job.probe, samples.metric})) return;
  const double value = median(representative(samples.values, samples.flags));
  const bool believed =
      samples.outcome == Status::ok && (!samples.check || samples.check->passed());
  if (!believed || !std::isfinite(value)) return;
  Json params = job.params;
  params.update(samples.params);
  seen_[job.hosts].push_back({job.id, job.probe, samples.metric, job.device, job.ranks,
                              samples.better, job.part, std::move(params), value,
                              count_clean(samples.flags) > 0});
  hosts_of_job_[job.id] = job.hosts;
}

std::string Ceilings::source_of(const Seen& seen) {
  return seen.probe + "." + seen.metric + " measured in this run" +
         (seen.clean ? "" : std::string(kDisturbedSource));
}

void Ceilings::forget(const std::string& job) {
  const auto hosts = hosts_of_job_.find(job);
  if (hosts == hosts_of_job_.end()) return;
  std::erase_if(seen_[hosts->second], [&](const Seen& one) { return one.job == job; });
  hosts_of_job_.erase(hosts);
}

std::vector<KnownLimit> Ceilings::limits_for(const Job& job) const {
  std::vector<KnownLimit> limits;
  const ProbeEntry* probe = catalogue_.find(job.probe);
  if (probe == nullptr) return limits;
  for (const ProbeMetric& metric : probe->metrics) {
    if (!metric.ceiling) continue;
    auto found = metric.ceiling->per_rank ? reached_by_a_rank(metric, job)
                                          : reached(metric, job, job.hosts, job.ranks);
    std::ranges::move(found, std::back_inserter(limits));
  }
  return limits;
}

std::vector<KnownLimit> Ceilings::reached(const ProbeMetric& metric, const Job& job,
                                          const Hosts& hosts, int ranks) const {
  std::vector<KnownLimit> limits;
  const CeilingRule& rule = *metric.ceiling;
  const auto of_hosts = seen_.find(hosts);
  if (of_hosts == seen_.end()) return limits;
  for (const Seen& one : of_hosts->second) {
    if (one.probe != rule.probe || one.metric != rule.metric) continue;
    if (one.device != job.device || one.ranks != ranks) continue;
    if (one.part != job.part) continue;
    const auto params = renamed(one.params, rule.where);
    if (!params) continue;
    const auto same = with_params(limits, *params);
    if (same == limits.end())
      limits.push_back({metric.name, *params, {one.median, LimitKind::measured, source_of(one)}});
    else if (beats(one.median, same->limit.value, one.better))
      same->limit = {one.median, LimitKind::measured, source_of(one)};
  }
  return limits;
}

std::vector<KnownLimit> Ceilings::reached_by_a_rank(const ProbeMetric& metric,
                                                    const Job& job) const {
  std::vector<KnownLimit> limits;
  for (std::size_t host = 0; host < job.hosts.size(); ++host) {
    std::vector<KnownLimit> own = reached(metric, job, {job.hosts[host]}, 1);
    if (host == 0) limits = own;
    std::erase_if(limits, [&](const KnownLimit& limit) {
      return with_params(own, limit.params) == own.end();
    });
    for (KnownLimit& limit : limits) {
      const Limit& of_host = with_params(own, limit.params)->limit;
      if (of_host.value < limit.limit.value) limit.limit = of_host;
    }
  }
  return limits;
}

}  // namespace bench
