// Which keywords a schema of ours may use, and that each has a sensible value: a misspelt keyword
// must not silently allow everything. Part of core/schema.h.
#pragma once

#include <map>
#include <regex>
#include <string>

#include "core/json.h"

namespace bench {

/// The `pattern`s of a schema, compiled once: that costs more than most checks.
struct Patterns {
  std::map<std::string, std::regex> compiled;
};

/// The patterns found. Throws Error(input) naming the schema, the place and the keyword.
Patterns check_keywords(const Json& schema, const std::string& name);

/// What "#/$defs/x" stands for in `root`; nullptr when there is none.
const Json* find_reference(const Json& root, const std::string& reference);

}  // namespace bench
