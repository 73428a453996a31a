#include <fmt/format.h>

#include <algorithm>

#include "core/fields.h"
#include "core/hostlist.h"
#include "core/text.h"
#include "results/localisation/evidence_text.h"
#include "results/localisation/localisation.h"
#include "results/reports/dimensions.h"

namespace bench {
namespace {

std::string hosts_text(const std::vector<Hosts>& sets) {
  std::vector<std::string> parts;
  for (const Hosts& set : sets) parts.push_back(compact_hostlist(set));
  return join(parts, "; ");
}

std::string progress_text(const Localisation& one) {
  const Incident& incident = one.incident;
  std::string text = fmt::format("{} search {}, {:.1f} s", incident.searched,
                                 incident.searched == 1 ? "job" : "jobs", incident.searched_s);
  if (one.spent)
    text += "; budget exhausted, not yet searched: " + hosts_text(one.step.open);
  else if (goes_on(one))
    text += "; not finished: continue with `benchctl resume`";
  return text;
}

/// " on rail 2 (mlx5_2)".
std::string rail_of(const Incident& incident) {
  const std::int64_t rail = integer_field(incident.part, "rail", -1);
  const std::string card = text_field(incident.part, "card");
  if (rail < 0) return "";
  return fmt::format(" on rail {}{}", rail, card.empty() ? "" : " (" + card + ")");
}

}  // namespace

std::string describe(const Incident& incident) {
  const std::string where = compact_hostlist(incident.hosts);
  if (!incident.slow)
    return fmt::format("{} fails on {}{}: {}", incident.case_name, where, rail_of(incident),
                       incident.reason);
  const std::string params = dimension_list(incident.params);
  return fmt::format("{} is slow on {}: {}{} is {}, the suite requires {}", incident.case_name,
                     where, incident.metric, params.empty() ? "" : " (" + params + ")",
                     format(incident.value, incident.unit), format(incident.bound, incident.unit));
}

std::string describe(const SearchFinding& finding, const Incident& incident) {
  const std::string shown = evidence_text(finding, incident.trials, incident, Symptom::present);
  const std::string fine = evidence_text(finding, incident.trials, incident, Symptom::absent);
  const std::string hosts = compact_hostlist(finding.hosts);
  switch (finding.kind) {
    case SearchFindingKind::host:
      return fmt::format("host {}{}: with it {}; without it {}", hosts, rail_of(incident), shown,
                         fine);
    case SearchFindingKind::link:
      return fmt::format("the link between {} and {}: together {}; each with others {}",
                         finding.hosts.at(0), finding.hosts.at(1), shown, fine);
    case SearchFindingKind::together:
      return fmt::format("only {} together: {}; subsets: {}", hosts, shown, fine);
    case SearchFindingKind::everywhere:
      return fmt::format("every subset of {} is affected ({}): most hosts, or something they share",
                         hosts, shown);
    case SearchFindingKind::flaky:
      return fmt::format("not reproducible on {}: first {}, then {}", hosts, shown, fine);
    case SearchFindingKind::undecided:
      return fmt::format("{} cannot be isolated: {}; {}", hosts, shown,
                         "no job with another host passed");
  }
  return "";
}

std::string localisation_text(const std::vector<Localisation>& list, const TextStyle& style) {
  if (list.empty()) return "";
  std::string text = fmt::format("\n{}\n", paint("localisation", Paint::bold, style));
  for (const Localisation& one : list) {
    text += "    " + wrap(printable(describe(one.incident)), 4, 6, style) + "\n";
    for (const SearchFinding& finding : one.step.findings)
      text +=
          "      " +
          paint(wrap(printable(describe(finding, one.incident)), 6, 8, style), Paint::red, style) +
          "\n";
    for (const DeviceSearch& search : one.devices)
      for (const std::string& line : lines_of(search, one.incident))
        text += "        " + wrap(printable(line), 8, 10, style) + "\n";
    if (!one.explained_by.empty())
      text += "      not searched: " + printable(one.explained_by) + " takes part in it\n";
    else
      text += "      " + wrap(printable(progress_text(one)), 6, 8, style) + "\n";
  }
  return text;
}

Json localisation_json(const std::vector<Localisation>& list) {
  Json json = Json::array();
  for (const Localisation& one : list) {
    const Incident& incident = one.incident;
    Json findings = Json::array();
    Json devices = Json::array();
    for (const DeviceSearch& search : one.devices) devices.push_back(to_json(search, incident));
    for (const SearchFinding& finding : one.step.findings)
      findings.push_back({{"kind", to_string(finding.kind)},
                          {"hosts", finding.hosts},
                          {"text", describe(finding, incident)},
                          {"evidence", evidence_json(finding, incident.trials, "hosts")}});
    json.push_back({{"case", incident.case_name},
                    {"kind", incident.slow ? "slow" : "failed"},
                    {"job", incident.job},
                    {"hosts", incident.hosts},
                    {"metric", text_or_null(incident.metric)},
                    {"params", incident.params},
                    {"unit", incident.slow ? Json(to_string(incident.unit)) : Json()},
                    {"value", number_or_null(incident.value)},
                    {"bound", number_or_null(incident.bound)},
                    {"text", describe(incident)},
                    {"findings", std::move(findings)},
                    {"devices", std::move(devices)},
                    {"open", one.step.open},
                    {"explained_by", text_or_null(one.explained_by)},
                    {"jobs", incident.searched},
                    {"seconds", incident.searched_s},
                    {"finished", !goes_on(one) && !is_spent(one)},
                    {"budget_spent", is_spent(one)}});
  }
  return json;
}

}  // namespace bench
