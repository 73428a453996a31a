#include <cmath>

#include "core/fields.h"
#include "core/text.h"
#include "results/regression/regression_output.h"

namespace bench {
namespace {

Json run_or_null(const RunPlace& place) { return place.number == 0 ? Json() : Json(place.id); }

Json facts_json(const ChangeFinding& finding) {
  Json facts = Json::array();
  for (const FactChange& fact : finding.facts) facts.push_back(to_json(fact));
  return facts;
}

Json decision_json(const Decision& decision) {
  if (decision.finding.empty()) return Json();
  return {{"state", to_string(decision.state)},
          {"time", format_time(decision.time_ns)},
          {"user", decision.user},
          {"text", decision.text}};
}

Json finding_json(const ChangeFinding& finding) {
  return {{"id", finding.id},
          {"scope", to_string(finding.scope)},
          {"kind", to_string(finding.kind)},
          {"host", text_or_null(finding.key.host)},
          {"device", text_or_null(finding.key.device)},
          {"metric", finding.key.metric},
          {"params", finding.key.params},
          {"ranks", finding.key.ranks},
          {"unit", to_string(finding.key.unit)},
          {"better", to_string(finding.key.better)},
          {"verdict", to_string(finding.verdict)},
          {"state", to_string(finding.state)},
          {"fails", finding.fails()},
          {"effect", number_or_null(finding.effect)},
          {"low", number_or_null(finding.low)},
          {"high", number_or_null(finding.high)},
          {"q", number_or_null(finding.q)},
          {"threshold", finding.threshold},
          {"value", number_or_null(finding.value)},
          {"expected", number_or_null(finding.expected)},
          {"since_run", run_or_null(finding.since)},
          {"since_low", run_or_null(finding.since_low)},
          {"since_high", run_or_null(finding.since_high)},
          {"since_time", format_time(finding.since.time_ns)},
          {"until_run", run_or_null(finding.until)},
          {"n_before", finding.before},
          {"n_after", finding.after},
          {"votes", finding.votes},
          {"voters", finding.voters},
          {"changes", facts_json(finding)},
          {"decision", decision_json(finding.decision)}};
}

}  // namespace

Json to_json(const RegressionReport& report) {
  Json findings = Json::array(), families = Json::array();
  for (const ChangeFinding& finding : report.findings) findings.push_back(finding_json(finding));
  for (const FindingFamily& family : report.families)
    families.push_back(
        {{"scope", to_string(family.scope)}, {"tested", family.tested}, {"found", family.found}});
  return {{"findings", findings},
          {"tested", report.tested},
          {"missing", report.missing},
          {"too_short", report.too_short},
          {"families", families},
          {"q", report.q},
          {"newest_run", run_or_null(report.newest)},
          {"exit_code", static_cast<int>(report.exit_code)}};
}

}  // namespace bench
