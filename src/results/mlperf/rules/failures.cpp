#include "results/mlperf/rules/failures.h"

#include <algorithm>

namespace bench::mlperf {

void Failures::add(Finding finding, bool keyed) {
  finding.official = true;
  findings_.emplace_back(std::move(finding), keyed);
}

void Failures::warn(Finding finding) {
  if (werror_) return add(std::move(finding), true);
  finding.official = true;
  finding.severity = Severity::warning;
  warnings_.push_back(std::move(finding));
}

void Failures::withdraw(const std::function<bool(const std::string&)>& replaced) {
  std::erase_if(findings_, [&](const auto& one) { return one.second && replaced(one.first.key); });
}

std::vector<Finding> Failures::findings() const {
  std::vector<Finding> all;
  for (const auto& [finding, keyed] : findings_) all.push_back(finding);
  return all;
}

}  // namespace bench::mlperf
