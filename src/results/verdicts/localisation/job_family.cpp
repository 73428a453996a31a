#include "results/verdicts/localisation/job_family.h"

#include <algorithm>

#include "core/json_fields.h"
#include "results/run/run_summary.h"

namespace bench {
namespace {

constexpr std::size_t kMostElsewhere = 64;

bool several_gpus(const PlannedJob& job) {
  return job.hosts.size() == 1 && job.device == "cuda" && job.ranks > 1;
}

std::string family_key(const PlannedJob& job) {
  const auto hosts = static_cast<int>(std::max<std::size_t>(1, job.hosts.size()));
  return dump(Json::array(
      {job.case_name, job.params, job.device, job.part, job.ranks / hosts, job.binding}));
}

/// Parameters that define the measurement, without the part and the axes of the case.
Json own_params(const Series& series, const PlannedJob& job) {
  Json params = series.params;
  for (const auto& [name, value] : job.part.items()) params.erase(name);
  for (const auto& [name, value] : job.params.items())
    if (params.contains(name) && params[name] == value) params.erase(name);
  return params;
}

/// Adds the first jobs of the other single-host families.
void add_elsewhere(const std::vector<std::size_t>& equals, std::vector<JobFamily>& list) {
  for (const std::size_t own : equals)
    for (const std::size_t other : equals) {
      if (list[own].elsewhere.size() == kMostElsewhere) break;
      if (other == own || list[other].jobs.empty()) continue;
      list[own].elsewhere.push_back(list[other].jobs.front());
    }
}

}  // namespace

int ranks_on_each_host(const PlannedJob& job) {
  const auto hosts = static_cast<int>(job.hosts.size());
  return hosts > 0 && job.ranks % hosts == 0 ? job.ranks / hosts : 0;
}

std::vector<JobFamily> job_families(const RunSummary& report) {
  std::map<std::string, const PlannedJob*> templates;
  for (const JobResult& job : report.jobs) templates[job.job.id] = &job.job;
  std::vector<JobFamily> list;
  std::map<std::string, std::size_t> place;
  std::map<std::string, std::vector<std::size_t>> equals;  // families of single hosts
  for (const JobResult& job : report.jobs) {
    const auto original = templates.find(job.job.search_of);
    const PlannedJob& one = original == templates.end() ? job.job : *original->second;
    if (one.hosts.size() < 2 && !several_gpus(one)) continue;
    const std::string what = family_key(one);
    const std::string host = one.hosts.size() == 1 ? one.hosts[0] : "";
    const auto [slot, is_new] = place.try_emplace(what + host, list.size());
    if (is_new) list.push_back({&one});
    if (is_new && !host.empty()) equals[what].push_back(list.size() - 1);
    JobFamily& family = list[slot->second];
    (job.job.part == one.part ? family.jobs : family.on_devices).push_back(&job);
  }
  for (const auto& [what, families] : equals) add_elsewhere(families, list);
  return list;
}

SeriesOfJob series_by_job(const RunSummary& report) {
  SeriesOfJob all;
  for (const Result& result : report.results) all[result.series.job].push_back(&result.series);
  return all;
}

const Series* same_series(const SeriesOfJob& all, const Series& like, const PlannedJob& like_job,
                          const PlannedJob& job) {
  const auto own = all.find(job.id);
  if (own == all.end()) return nullptr;
  const Json params = own_params(like, like_job);
  const auto found = std::ranges::find_if(own->second, [&](const Series* series) {
    return series->metric == like.metric && own_params(*series, job) == params &&
           series->over == like.over && (series->over != "rank" || series->rank == like.rank);
  });
  return found == own->second.end() ? nullptr : *found;
}

}  // namespace bench
