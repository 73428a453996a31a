#include "results/localisation/device_trials.h"

#include <algorithm>
#include <cmath>

namespace bench {
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
  bool asked = false;  // a reference job ran, whatever its result
  double reference = kNoValue, best = kNoValue, worst = kNoValue;
};

Equals equals_of(std::size_t count, const DeviceTrials& jobs, const Incident& incident) {
  const bool lower = incident.better == Better::lower;
  const auto better = [&](double a, double b) { return lower ? std::fmin(a, b) : std::fmax(a, b); };
  const auto worse = [&](double a, double b) { return lower ? std::fmax(a, b) : std::fmin(a, b); };
  Equals equals;
  for (const Trial& trial : jobs.references) {
    if (trial.hosts.size() != count) continue;
    equals.asked = true;
    equals.reference = better(equals.reference, trial.value);
  }
  for (const Trial& trial : jobs.trials) {
    if (trial.hosts.size() != count) continue;
    equals.best = better(equals.best, trial.value);
    equals.worst = worse(equals.worst, trial.value);
  }
  return equals;
}

/// For fewer GPUs than all; `missed`: whether the gate for all was missed.
Symptom judge_part(double value, bool missed, const Equals& equals, const Incident& incident) {
  const bool referenced = std::isfinite(equals.reference);
  if (worse_by(value, referenced ? equals.reference : equals.best, incident))
    return Symptom::present;
  const bool fine = !missed || referenced || worse_by(equals.worst, value, incident);
  return fine ? Symptom::absent : Symptom::unknown;
}

/// Moves sets that need a reference first to `unreferenced`, if one may run.
void judge_parts(const Incident& incident, std::size_t all, bool may_ask, DeviceTrials& jobs) {
  std::vector<Trial> judged;
  for (Trial trial : jobs.trials) {
    const bool part = trial.hosts.size() < all && std::isfinite(trial.value);
    const Equals equals = equals_of(trial.hosts.size(), jobs, incident);
    if (part)
      trial.symptom = judge_part(trial.value, trial.symptom != Symptom::absent, equals, incident);
    if (part && trial.symptom == Symptom::unknown && may_ask && !equals.asked)
      jobs.unreferenced.push_back(trial.hosts);
    else
      judged.push_back(std::move(trial));
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
  take_whole_hosts(incident.trials, form.reference, all, jobs.references);
  take_whole_hosts(incident.fine_hosts, form.reference, all, jobs.references);
  take_parts(incident.device_jobs, form.reference, jobs.references);
  if (incident.slow) judge_parts(incident, all.size(), !form.reference.empty(), jobs);
  return jobs;
}

}  // namespace bench
