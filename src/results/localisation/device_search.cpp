#include "results/localisation/device_search.h"

#include <algorithm>

namespace bench {
namespace {

// Four disjoint sets of GPUs with the symptom and no good GPU: the cause is not a single GPU.
constexpr std::size_t kEverySet = 4;
constexpr int kMostGpus = 1024;  // per host

/// Good partners with which a named host showed the symptom, in order.
Hosts failing_partners(const SearchFinding& finding, const Incident& incident) {
  Hosts partners;
  for (const std::size_t i : finding.evidence) {
    const Trial& trial = incident.trials.at(i);
    if (trial.symptom != Symptom::present || trial.hosts.size() != 2) continue;
    const std::string& other = trial.hosts[trial.hosts[0] == finding.hosts[0] ? 1 : 0];
    if (std::ranges::find(partners, other) == partners.end()) partners.push_back(other);
  }
  return partners;
}

DeviceForm with_good_partner(const SearchFinding& finding, const Incident& incident) {
  DeviceForm form{finding.hosts.front()};
  const Hosts partners = failing_partners(finding, incident);
  if (!partners.empty()) form.partner = partners[0];
  if (partners.size() > 1) form.reference = {partners[0], partners[1]};
  return form;
}

DeviceForm single_host_form(const Incident& incident) {
  DeviceForm form{incident.hosts.front()};
  if (!incident.fine_hosts.empty()) form.reference = incident.fine_hosts.front().hosts;
  return form;
}

std::string obstacle_of(const Incident& incident) {
  if (incident.ranks_per_host == 0) return "its hosts have different numbers of ranks";
  if (!incident.part.empty()) return "the job already uses only part of its hosts";
  if (incident.ranks_per_host == 1)
    return "one rank per host drives one GPU: either that GPU or its host";
  if (incident.ranks_per_host > kMostGpus) return "more ranks per host than GPUs";
  return "";
}

/// Requests the job on each set.
void ask(const std::vector<Hosts>& sets, const Hosts& hosts, std::vector<DeviceJob>& next) {
  for (const Hosts& devices : sets) next.push_back({hosts, devices});
}

/// One of each size.
std::vector<Devices> sizes(const std::vector<Devices>& sets) {
  std::vector<Devices> list;
  for (const Devices& set : sets)
    if (std::ranges::none_of(list, [&](const Devices& one) { return one.size() == set.size(); }))
      list.push_back(set);
  return list;
}

DeviceSearch search_devices(DeviceForm form, const Incident& incident) {
  DeviceSearch search{std::move(form)};
  search.obstacle = obstacle_of(incident);
  if (!search.obstacle.empty()) return search;
  search.devices = first_gpus(incident.ranks_per_host);
  search.jobs = device_trials(incident, search.form);
  // With two GPUs, neither has another partner.
  const bool alone = !search.form.partner.empty() || search.devices.size() == 2;
  search.step = search_step(search.devices, search.jobs.trials, {alone, kEverySet});
  if (search.jobs.unreferenced.empty())
    ask(search.step.next, hosts_of(search.form), search.next);
  else
    ask(sizes(search.jobs.unreferenced), search.form.reference, search.next);
  return search;
}

}  // namespace

std::vector<DeviceSearch> device_searches(const Incident& incident, const SearchStep& of_hosts) {
  std::vector<DeviceSearch> list;
  if (incident.device != "cuda") return list;
  if (incident.hosts.size() == 1) return {search_devices(single_host_form(incident), incident)};
  for (const SearchFinding& finding : of_hosts.findings)
    if (finding.kind == SearchFindingKind::host)
      list.push_back(search_devices(with_good_partner(finding, incident), incident));
  return list;
}

}  // namespace bench
