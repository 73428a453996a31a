#include "mlperf/check/check_report.h"

#include <cmath>

#include "core/json_fields.h"

namespace bench::mlperf {
namespace {

void count(const std::vector<Finding>& findings, CheckCounts& counts) {
  for (const Finding& finding : findings) {
    if (finding.official) continue;
    counts.errors += finding.severity == Severity::error ? 1U : 0U;
    counts.warnings += finding.severity == Severity::warning ? 1U : 0U;
    counts.notes += finding.severity == Severity::note ? 1U : 0U;
  }
}

Json findings_json(const std::vector<Finding>& findings) {
  Json json = Json::array();
  for (const Finding& finding : findings) json.push_back(to_json(finding));
  return json;
}

Json file_json(const CheckReport& report, const FileCheck& file) {
  const FolderCheck none;
  const FolderCheck& folder = file.folder ? report.folders.at(*file.folder) : none;
  return {{"path", file.path.native()},
          {"submitter", text_or_null(folder.submitter)},
          {"system", text_or_null(folder.system)},
          {"benchmark", text_or_null(file.benchmark)},
          {"division", text_or_null(file.division)},
          {"official", file.pass ? "pass" : "fail"},
          {"crash", file.crash},
          {"rule_set", file.rule_set},
          {"rule_set_reason", file.rule_set_reason},
          {"minutes", std::isfinite(file.minutes) ? Json(file.minutes) : Json()},
          {"findings", findings_json(file.findings)}};
}

}  // namespace

CheckCounts counts_of(const CheckReport& report) {
  CheckCounts counts{.files = report.files.size()};
  for (const FileCheck& file : report.files) {
    counts.passed += file.pass ? 1U : 0U;
    counts.failed += file.pass ? 0U : 1U;
    counts.crashed += file.crash ? 1U : 0U;
    count(file.findings, counts);
  }
  for (const FolderCheck& folder : report.folders) count(folder.findings, counts);
  return counts;
}

bool passed(const CheckReport& report) {
  const CheckCounts counts = counts_of(report);
  return counts.files > 0 && counts.failed == 0 && counts.errors == 0;
}

Json to_json(const CheckReport& report) {
  const CheckCounts counts = counts_of(report);
  Json files = Json::array(), folders = Json::array();
  for (const FileCheck& file : report.files) files.push_back(file_json(report, file));
  for (const FolderCheck& folder : report.folders)
    folders.push_back({{"path", folder.path.native()},
                       {"submitter", text_or_null(folder.submitter)},
                       {"system", text_or_null(folder.system)},
                       {"benchmark", text_or_null(folder.benchmark)},
                       {"findings", findings_json(folder.findings)}});
  return {{"files", files},
          {"folders", folders},
          {"strict", report.strict},
          {"verdict", passed(report) ? "pass" : "fail"},
          {"counts",
           {{"files", counts.files},
            {"official_pass", counts.passed},
            {"official_fail", counts.failed},
            {"official_crash", counts.crashed},
            {"errors", counts.errors},
            {"warnings", counts.warnings},
            {"notes", counts.notes}}}};
}

}  // namespace bench::mlperf
