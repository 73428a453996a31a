#include "results/verdicts/localisation/device_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/hostlist.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "results/stats/peers.h"
#include "results/verdicts/localisation/incident.h"

namespace bench {

Devices devices_in(const Json& part) {
  const std::string text = text_field(part, "device");
  const auto names = words_of(text, ",");
  return {names.begin(), names.end()};
}

std::string device_words(const Devices& devices) { return join(devices, ","); }

Devices first_gpus(int ranks) {
  Devices devices;
  for (int i = 0; i < ranks; ++i) devices.push_back("cuda:" + std::to_string(i));
  return devices;
}

namespace {

/// " (the same GPUs of node01 taking part); as many of node[01-02] reach 2.3 GB/s".
std::string circumstances(const SearchFinding& finding, const DeviceSearch& search,
                          const Incident& incident) {
  std::string text;
  if (!search.form.partner.empty())
    text += fmt::format(" (with the same GPUs of {})", search.form.partner);
  std::vector<std::string> reached;
  for (const Trial& trial : search.jobs.references) {
    const bool compared = std::ranges::any_of(finding.evidence, [&](std::size_t i) {
      return search.jobs.trials.at(i).hosts.size() == trial.hosts.size();
    });
    if (compared && incident.slow && std::isfinite(trial.value))
      reached.push_back(fmt::format("{} on {}", format(trial.value, incident.unit),
                                    compact_hostlist(trial.hosts)));
  }
  if (!reached.empty())
    text += fmt::format("; {} reach{} {}", compact_hostlist(search.form.reference),
                        search.form.reference.size() == 1 ? "es" : "", join(reached, ", "));
  return text;
}

/// "cuda:5 of node03".
std::string devices_of_host(const Devices& devices, const DeviceSearch& search) {
  return compact_hostlist(devices) + " of " + search.form.host;
}

std::string conclusion(const SearchFinding& finding, const DeviceSearch& search,
                       const std::string& shown, const std::string& fine) {
  const std::string where = devices_of_host(finding.hosts, search);
  switch (finding.kind) {
    case SearchFindingKind::host:
      return fmt::format("device {}: with it {}; without it {}", where, shown, fine);
    case SearchFindingKind::link:
      return fmt::format("the link between {} and {} of {}: together {}; each with others {}",
                         finding.hosts.at(0), finding.hosts.at(1), search.form.host, shown, fine);
    case SearchFindingKind::together:
      return fmt::format("no single device: only {} together: {}; subsets: {}", where, shown, fine);
    case SearchFindingKind::everywhere:
      return fmt::format(
          "no single device: every subset of {} is affected ({}): the host itself, or something "
          "its "
          "GPUs share",
          where, shown);
    case SearchFindingKind::flaky:
      return fmt::format("no device: not reproducible on {}: first {}, then {}", where, shown,
                         fine);
    case SearchFindingKind::undecided:
      return fmt::format("{} cannot be isolated: {}; no job separates them", where, shown);
  }
  return "";
}

std::string unsearched_devices(const DeviceSearch& search) {
  std::vector<std::string> parts;
  for (const Devices& set : search.step.open) parts.push_back(compact_hostlist(set));
  return join(parts, "; ") + " of " + search.form.host;
}

}  // namespace

std::string describe(const SearchFinding& finding, const DeviceSearch& search,
                     const Incident& incident) {
  const auto& trials = search.jobs.trials;
  return conclusion(finding, search, evidence_text(finding, trials, incident, Symptom::present),
                    evidence_text(finding, trials, incident, Symptom::absent)) +
         circumstances(finding, search, incident);
}

std::vector<std::string> lines_of(const DeviceSearch& search, const Incident& incident) {
  std::vector<std::string> lines;
  if (!search.obstacle.empty())
    lines.push_back("no device of " + search.form.host + " isolated: " + search.obstacle);
  for (const SearchFinding& finding : search.step.findings)
    lines.push_back(describe(finding, search, incident));
  if (search.spent)
    lines.push_back("budget exhausted, not yet searched: " + unsearched_devices(search));
  return lines;
}

Json to_json(const DeviceSearch& search, const Incident& incident) {
  Json findings = Json::array();
  for (const SearchFinding& finding : search.step.findings) {
    const bool one = finding.kind == SearchFindingKind::host;
    findings.push_back({{"kind", one ? "device" : std::string(to_string(finding.kind))},
                        {"devices", finding.hosts},
                        {"text", describe(finding, search, incident)},
                        {"evidence", evidence_json(finding, search.jobs.trials, "devices")}});
  }
  return {{"host", search.form.host},
          {"partner", text_or_null(search.form.partner)},
          {"reference", search.form.reference},
          {"devices", search.devices},
          {"findings", std::move(findings)},
          {"open", search.step.open},
          {"obstacle", text_or_null(search.obstacle)},
          {"finished", search.next.empty() && !search.spent},
          {"budget_spent", search.spent}};
}

namespace {

bool same_set(Hosts a, Hosts b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b;
}

/// A job on whole hosts is a job on all their GPUs.
void take_whole_hosts(const std::vector<Trial>& jobs, const Hosts& hosts, const Devices& all,
                      std::vector<Trial>& trials) {
  for (const Trial& job : jobs)
    if (same_set(job.hosts, hosts)) trials.push_back({all, job.symptom, job.value, job.job});
}

void take_parts(const std::vector<DeviceJob>& jobs, const Hosts& hosts,
                std::vector<Trial>& trials) {
  for (const DeviceJob& job : jobs)
    if (same_set(job.hosts, hosts))
      trials.push_back({job.devices, job.symptom, job.value, job.job});
}

bool worse_by(double value, double other, const Incident& incident) {
  return incident.better == Better::lower ? value > other / (1.0 - incident.threshold)
                                          : value < other * (1.0 - incident.threshold);
}

/// Values with the same number of GPUs elsewhere and here; kNoValue for none.
struct Equals {
  std::size_t references = 0;  // jobs that ran, whatever their result
  double reference = kNoValue, best = kNoValue, worst = kNoValue;
  double scatter = 0.0;               // largest log distance of repeats on the same GPUs
  std::map<Devices, double> best_of;  // of the repeats of each set here
};

Equals equals_of(std::size_t count, const DeviceTrials& jobs, const Incident& incident) {
  const bool lower = incident.better == Better::lower;
  const auto better = [&](double a, double b) { return lower ? std::fmin(a, b) : std::fmax(a, b); };
  const auto worse = [&](double a, double b) { return lower ? std::fmax(a, b) : std::fmin(a, b); };
  Equals equals;
  const auto take = [&](const std::vector<Trial>& trials, double& best) {
    std::map<Devices, std::pair<double, double>> of;  // the best and the worst
    for (const Trial& trial : trials) {
      if (trial.hosts.size() != count) continue;
      auto& range = of.try_emplace(trial.hosts, kNoValue, kNoValue).first->second;
      range = {better(range.first, trial.value), worse(range.second, trial.value)};
      best = better(best, trial.value);
      equals.scatter = std::fmax(equals.scatter, std::abs(std::log(range.first / range.second)));
    }
    return of;
  };
  take(jobs.references, equals.reference);
  for (const auto& [set, range] : take(jobs.trials, equals.best)) {
    equals.best_of[set] = range.first;
    equals.worst = worse(equals.worst, range.second);
  }
  equals.references = static_cast<std::size_t>(std::ranges::count_if(
      jobs.references, [&](const Trial& trial) { return trial.hosts.size() == count; }));
  return equals;
}

/// For fewer GPUs than all; `missed`: whether the gate for all was missed.
Symptom judge_part(double value, bool missed, const Equals& equals, const Incident& incident) {
  const bool referenced = std::isfinite(equals.reference);
  const double other = referenced ? equals.reference : equals.best;
  if (worse_by(value, other, incident) &&
      std::abs(std::log(value / other)) > kBeyondRepeats * equals.scatter)
    return Symptom::present;
  const bool fine = !missed || referenced || worse_by(equals.worst, value, incident);
  return fine ? Symptom::absent : Symptom::unknown;
}

/// Moves sets that need a reference first to `unreferenced`, if one may run, and adds those whose
/// reference needs repeats.
void judge_parts(const Incident& incident, std::size_t all, bool may_ask, DeviceTrials& jobs) {
  std::vector<Trial> judged;
  std::map<std::size_t, Equals> by_count;
  for (const Trial& trial : jobs.trials)
    if (!by_count.contains(trial.hosts.size()))
      by_count.emplace(trial.hosts.size(), equals_of(trial.hosts.size(), jobs, incident));
  for (Trial trial : jobs.trials) {
    const bool part = trial.hosts.size() < all && std::isfinite(trial.value);
    const Equals& equals = by_count.at(trial.hosts.size());
    if (part) {
      trial.symptom = judge_part(equals.best_of.at(trial.hosts), trial.symptom != Symptom::absent,
                                 equals, incident);
      trial.compared = trial.symptom == Symptom::present;
    }
    const bool unknown = part && trial.symptom == Symptom::unknown && equals.references == 0;
    if (may_ask && (unknown || (trial.compared && equals.references < kFewestRepeats)))
      jobs.unreferenced.push_back(trial.hosts);
    if (!may_ask || !unknown) judged.push_back(std::move(trial));
  }
  jobs.trials = std::move(judged);
}

}  // namespace

Hosts hosts_of(const DeviceForm& form) {
  return form.partner.empty() ? Hosts{form.host} : Hosts{form.host, form.partner};
}

DeviceTrials device_trials(const Incident& incident, const DeviceForm& form) {
  const Devices all = first_gpus(incident.ranks_per_host);
  DeviceTrials jobs;
  take_whole_hosts(incident.trials, hosts_of(form), all, jobs.trials);
  take_parts(incident.device_jobs, hosts_of(form), jobs.trials);
  for (Trial& trial : jobs.trials) trial.rate = rate_of(trial.value, incident.better);
  take_whole_hosts(incident.trials, form.reference, all, jobs.references);
  take_whole_hosts(incident.fine_hosts, form.reference, all, jobs.references);
  take_parts(incident.device_jobs, form.reference, jobs.references);
  if (incident.slow) judge_parts(incident, all.size(), !form.reference.empty(), jobs);
  return jobs;
}

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
