// The keywords that look at one value and not into its members: type, enum, const, ranges, lengths,
// pattern, uniqueItems; and the words of their refusals. Part of core/schema.h.
#pragma once

#include <string>

#include "core/json.h"
#include "core/schema_checker.h"

namespace bench {

/// A longer text is refused wherever a pattern is asked for: std::regex recurses once a character.
inline constexpr std::size_t kLongestPatternText = 4096;

/// Throws Mismatch.
void check_scalar(const Json& value, const Json& schema, const Patterns& patterns,
                  const std::string& at);

/// "an integer or null": what `schema` expects; looks through $ref.
std::string type_words(const Json& schema, const Json& root);
Mismatch wrong_type(const Json& value, const std::string& expected, const std::string& at);
Mismatch missing(const std::string& name, const Json& properties, const std::string& at);

}  // namespace bench
