#include "mlperf/finding.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace bench::mlperf {

std::string_view to_string(Severity severity) {
  constexpr std::array kNames = {"note", "warning", "error"};
  return kNames[static_cast<std::size_t>(severity)];
}

Json to_json(const Finding& finding) {
  return {{"rule", finding.rule},         {"severity", to_string(finding.severity)},
          {"official", finding.official}, {"line", finding.line},
          {"column", finding.column},     {"key", finding.key},
          {"expected", finding.expected}, {"found", finding.found},
          {"text", finding.text},         {"where", finding.where}};
}

void sort_findings(std::vector<Finding>& findings) {
  std::ranges::stable_sort(
      findings, {}, [](const Finding& finding) { return std::tie(finding.line, finding.rule); });
}

}  // namespace bench::mlperf
