// Fuzzes `mlperf check` with hostile logs: any content gets a verdict, and the report is printable
// and valid as JSON, SARIF and XML.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"
#include "mlperf/check/check_report.h"
#include "mlperf/log/log.h"
#include "mlperf/log/run_facts.h"
#include "mlperf/rules/official_check.h"
#include "mlperf/rules/rule_set_choice.h"
#include "mlperf/strict/runs_check.h"
#include "mlperf/strict/strict_check.h"
#include "results/output/document/terminal.h"
#include "results/output/mlperf/check_output.h"
#include "tests/fuzz/demand.h"

namespace {

using namespace bench;

std::string dumped(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

mlperf::CheckReport checked(std::string_view text) {
  static const std::vector<mlperf::RuleSet> known =
      mlperf::load_rule_sets(mlperf::rule_set_folder());
  const mlperf::Log log = mlperf::read_log_text(text, "fuzz");
  const mlperf::RunFacts facts = mlperf::facts_of(log);
  const mlperf::RuleSetChoice choice = mlperf::choose_rule_set(log, known);
  const auto rules = std::find_if(known.begin(), known.end(), [&](const mlperf::RuleSet& set) {
    return set.version == choice.version;
  });
  fuzz::demand(rules != known.end(), "no rule set " + choice.version);
  mlperf::OfficialVerdict verdict = mlperf::official_check(log, *rules);
  fuzz::demand(verdict.pass || !verdict.findings.empty(), "fails without a finding");
  mlperf::FileCheck file{.path = "fuzz", .rule_set = choice.version};
  file.rule_set_reason = choice.reason;
  file.pass = verdict.pass;
  file.findings = std::move(verdict.findings);
  for (mlperf::Finding& finding : mlperf::strict_check(
           {.log = log, .facts = facts, .rules = *rules, .submitter = "a", .folder = "flux1"})) {
    fuzz::demand(!finding.official && !finding.rule.empty(), "no strict finding");
    file.findings.push_back(std::move(finding));
  }
  const std::vector<mlperf::RunExtract> runs(2, mlperf::extract_run(log, facts));
  for (mlperf::RunFinding& found : mlperf::check_runs(runs))
    file.findings.push_back(std::move(found.finding));
  for (const mlperf::Finding& finding : file.findings)
    fuzz::demand(finding.line >= 0 && finding.line <= log.lines, "a line that is not there");
  return {.files = {std::move(file)}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const mlperf::CheckReport report = checked({reinterpret_cast<const char*>(data), size});
  for (const char c : to_terminal(mlperf::to_document(report, true), {}))
    fuzz::demand(c == '\n' || (static_cast<unsigned char>(c) >= ' ' && c != 0x7f),
                 "the text report is not printable");
  for (const char c : mlperf::to_junit(report))
    fuzz::demand(c == '\n' || static_cast<unsigned char>(c) >= ' ', "no XML 1.0");
  parse_json(dumped(mlperf::to_json(report)), "JSON");
  parse_json(dumped(mlperf::to_sarif(report)), "SARIF");
  return 0;
}
