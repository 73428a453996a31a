// Builds the shapes of hosts from the records of a run.
#include <algorithm>

#include "results/topology/fleet.h"

namespace bench {
namespace {

HostTopology* find_host(std::vector<HostTopology>& hosts, const std::string& name) {
  const auto found = std::ranges::find(hosts, name, &HostTopology::host);
  return found == hosts.end() ? nullptr : &*found;
}

void take_facts(HostTopology& host, const Facts& facts) {
  if (facts.topic != "topology") return;
  host.shape = shape_of(facts.facts);
  host.probed = true;
}

void take_outcome(HostTopology& host, const Outcome& outcome) {
  if (outcome.status == Status::ok) return;
  host.trouble = std::string(to_string(outcome.status)) + ": " + outcome.reason;
  host.invalid = outcome.status == Status::invalid;
}

}  // namespace

std::vector<HostTopology> topologies_of(const RunRecords& run) {
  std::vector<HostTopology> hosts;
  std::map<std::string, std::string> host_of_job;
  for (const PlannedJob& job : run.jobs) {
    if (job.probe != "topology" || job.hosts.size() != 1) continue;
    host_of_job[job.id] = job.hosts.front();
    if (find_host(hosts, job.hosts.front()) != nullptr) continue;
    hosts.push_back({job.hosts.front()});
    hosts.back().probed = false;
    hosts.back().trouble = job.skipped.empty() ? "not probed" : job.skipped;
  }
  for (const Record& record : run.records) {
    const auto job = host_of_job.find(record.job);
    HostTopology* host = job == host_of_job.end() ? nullptr : find_host(hosts, job->second);
    if (host == nullptr) continue;
    if (const auto* facts = std::get_if<Facts>(&record.body)) take_facts(*host, *facts);
    if (const auto* outcome = std::get_if<Outcome>(&record.body)) take_outcome(*host, *outcome);
  }
  for (HostTopology& host : hosts)
    if (host.probed && !host.invalid && host.trouble == "not probed") host.trouble.clear();
  return hosts;
}

}  // namespace bench
