// The rule sets of MLPerf rounds for people and for programs.
#pragma once

#include <vector>

#include "core/json.h"
#include "mlperf/rules/rule_set.h"
#include "results/output/document/document.h"

namespace bench::mlperf {

/// `rule_sets`: oldest first.
Document to_document(const std::vector<RuleSet>& rule_sets);
/// schemas/report_mlperf_rules.json
Json to_json(const std::vector<RuleSet>& rule_sets);

}  // namespace bench::mlperf
