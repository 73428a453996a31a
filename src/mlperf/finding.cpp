#include "mlperf/finding.h"

#include <algorithm>
#include <tuple>

namespace bench::mlperf {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      break;
  }
  return "error";
}

Json to_json(const Finding& finding) {
  return {{"rule", finding.rule},         {"severity", to_string(finding.severity)},
          {"official", finding.official}, {"line", finding.line},
          {"column", finding.column},     {"key", finding.key},
          {"expected", finding.expected}, {"found", finding.found},
          {"text", finding.text},         {"where", finding.where}};
}

void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.line, a.rule) < std::tie(b.line, b.rule);
  });
}

}  // namespace bench::mlperf
