// Rule sets before their expressions are read: JSON with everything that a file is based on.
#pragma once

#include <filesystem>
#include <string>

#include "core/json.h"
#include "results/mlperf/rules/rule_set.h"

namespace bench::mlperf {

/// The file of a version over those it is based on, each checked against its schema; sections
/// that are like another one hold its keys too. Throws Error(input).
Json whole_rule_set_json(const std::filesystem::path& folder, const std::string& version);

/// Throws Error(input) naming section, key and place.
RuleSet rule_set_from_json(const Json& json, const std::string& origin);

}  // namespace bench::mlperf
