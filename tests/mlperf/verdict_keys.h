// The findings that the official checker stores by key; it lists the others.
#pragma once

#include <set>
#include <string>

#include "mlperf/rules/official_check.h"

namespace bench::mlperf {

inline bool is_keyed(const Finding& finding) {
  if (finding.rule == "required." + finding.key) return true;
  const std::string kind = finding.rule.substr(0, finding.rule.find('.'));
  return kind == "check" || kind == "first" || kind == "derive";
}

inline std::set<std::string> keyed_failures(const OfficialVerdict& verdict) {
  std::set<std::string> keys;
  for (const Finding& finding : verdict.findings)
    if (is_keyed(finding)) keys.insert(finding.key);
  return keys;
}

/// The number of findings without a key: the official checker fails for each of them too.
inline std::size_t other_failures(const OfficialVerdict& verdict) {
  std::set<std::string> rules;
  for (const Finding& finding : verdict.findings)
    if (!is_keyed(finding)) rules.insert(finding.rule);
  return rules.size();
}

}  // namespace bench::mlperf
