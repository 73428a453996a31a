#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/hostlist.h"
#include "core/text.h"
#include "results/json_fields.h"
#include "results/localisation/device_search.h"
#include "results/localisation/evidence_text.h"

namespace bench {
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

}  // namespace bench
