// What findings of `benchctl mlperf check` ask for.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "mlperf/rules/rule_set.h"
#include "results/output/document/document.h"

namespace bench::mlperf {

/// All strict checks, and how the IDs of official ones are made.
Document list_of_checks();

/// Of the ID of a strict check ("stop.target"), of an official finding ("required.eval_accuracy")
/// or of a key ("eval_accuracy"): what it asks, for each rule set. Nothing for an unknown one.
std::optional<Document> explanation(std::string_view id, const std::vector<RuleSet>& rule_sets);

}  // namespace bench::mlperf
