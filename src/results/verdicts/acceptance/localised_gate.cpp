// Fails what a search isolated, and clears the hosts that only took part in the same job.
#include <fmt/format.h>

#include <algorithm>

#include "core/hostlist.h"
#include "core/text.h"
#include "results/verdicts/acceptance/gate_context.h"

namespace bench {
namespace {

bool named(const Localisation& one, const std::string& host) {
  return std::ranges::any_of(one.step.findings, [&](const SearchFinding& finding) {
    return std::ranges::find(finding.hosts, host) != finding.hosts.end();
  });
}

/// A reason from a job of several hosts, which alone fails none of them.
bool is_of_the_job(const Reason& reason, const Incident& incident) {
  return reason.case_name == incident.case_name && reason.verdict == Verdict::inconclusive &&
         (reason.gate == "hard" || reason.gate == "coverage");
}

/// Adds the findings about GPUs of the failed host.
void add_devices(const DeviceSearch& search, const Incident& incident, Reason& reason) {
  for (const std::string& line : lines_of(search, incident)) reason.text += "; " + line;
  if (std::ranges::any_of(search.step.findings, isolates_cause))
    reason.next_step =
        "check the named device: nvidia-smi -q, PCIe or NVLink lanes, path to the network";
}

/// For single-host jobs: fails the host for its isolated GPU.
void fail_devices(const GateContext& context, const Localisation& one) {
  const Incident& incident = one.incident;
  for (const DeviceSearch& search : one.devices) {
    if (incident.hosts.size() != 1 || std::ranges::none_of(search.step.findings, isolates_cause))
      continue;
    Reason reason{Verdict::fail,   "localised",   incident.case_name, incident.metric,
                  incident.params, incident.unit, incident.value,     incident.bound};
    reason.job = incident.job;
    reason.text = describe(incident);
    add_devices(search, incident, reason);
    context.add_reason(search.form.host, reason);
  }
}

Reason reason_of_search(const Localisation& one, const SearchFinding& finding) {
  const Incident& incident = one.incident;
  Reason reason{Verdict::fail,   "localised",   incident.case_name, incident.metric,
                incident.params, incident.unit, kNoValue,           incident.bound};
  for (const std::size_t i : finding.evidence) {
    const Trial& trial = incident.trials.at(i);
    if (trial.symptom != Symptom::present || !reason.job.empty()) continue;
    reason.value = trial.value;
    reason.job = trial.job;
  }
  reason.text = describe(incident) + "; " + describe(finding, incident);
  reason.next_step = finding.kind == SearchFindingKind::host
                         ? "check its NIC, cable, switch port and running processes"
                         : "check the path between them: cables, switch ports, routes";
  for (const DeviceSearch& search : one.devices)
    if (search.form.host == finding.hosts.front()) add_devices(search, incident, reason);
  return reason;
}

bool link_is_listed(const Acceptance& acceptance, const Hosts& ends) {
  return std::ranges::any_of(acceptance.links, [&](const LinkAcceptance& link) {
    return (link.a == ends[0] && link.b == ends[1]) || (link.a == ends[1] && link.b == ends[0]);
  });
}

void fail_named(const GateContext& context, const Localisation& one, const SearchFinding& finding) {
  Reason reason = reason_of_search(one, finding);
  if (finding.kind == SearchFindingKind::link) {
    if (link_is_listed(context.acceptance, finding.hosts)) return;
    context.acceptance.links.push_back({finding.hosts[0], finding.hosts[1], reason});
    reason.verdict = Verdict::inconclusive;
  }
  for (const std::string& host : finding.hosts) context.add_reason(host, reason);
}

/// Clears a host that only took part, once the cause is isolated.
void clear_bystander(HostAcceptance& host, const Localisation& one) {
  const std::size_t before = host.reasons.size();
  std::erase_if(host.reasons,
                [&](const Reason& reason) { return is_of_the_job(reason, one.incident); });
  if (host.reasons.size() == before || named(one, host.host)) return;
  host.notes.push_back(fmt::format("took part in {}; cleared, the cause is {}",
                                   one.incident.case_name,
                                   compact_hostlist(one.step.findings.front().hosts)));
}

/// Adds to the open reasons why the search isolated nothing.
void add_search_result(HostAcceptance& host, const Localisation& one) {
  std::vector<std::string> lines;
  for (const SearchFinding& finding : one.step.findings)
    lines.push_back(describe(finding, one.incident));
  for (const DeviceSearch& search : one.devices)
    for (std::string& line : lines_of(search, one.incident)) lines.push_back(std::move(line));
  if (lines.empty()) return;
  for (Reason& reason : host.reasons)
    if (is_of_the_job(reason, one.incident)) reason.next_step = join(lines, "; ");
}

}  // namespace

void judge_localised(GateContext& context) {
  for (const Localisation& one : context.acceptance.localisations) {
    for (const std::string& name : one.incident.hosts) {
      HostAcceptance* host = context.host(name);
      if (host == nullptr) continue;
      is_settled(one) ? clear_bystander(*host, one) : add_search_result(*host, one);
    }
    for (const SearchFinding& finding : one.step.findings)
      if (isolates_cause(finding)) fail_named(context, one, finding);
    fail_devices(context, one);
  }
}

}  // namespace bench
