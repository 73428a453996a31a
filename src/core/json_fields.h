// Reads fields of JSON that may be old, hand-written or corrupt: a missing field or wrong type
// yields the fallback. Only for data validated when written (plan.json, facts); user input goes
// through core/schema.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "core/json.h"

namespace bench {

/// No value; written as null, never as 0.
inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// The field, or null.
inline const Json& field(const Json& object, const char* key) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

inline std::string text_field(const Json& object, const char* key,
                              const std::string& fallback = {}) {
  const Json& value = field(object, key);
  return value.is_string() ? value.get<std::string>() : fallback;
}

inline double number_field(const Json& object, const char* key, double fallback = kNoValue) {
  const Json& value = field(object, key);
  return value.is_number() ? value.get<double>() : fallback;
}

/// Whole numbers beyond +-2^62 are treated as corrupt, so later sums cannot overflow.
inline std::int64_t integer_field(const Json& object, const char* key, std::int64_t fallback = 0) {
  constexpr double kLargest = 4.6e18;
  const double number = number_field(object, key);
  if (!(std::abs(number) < kLargest)) return fallback;
  const Json& value = field(object, key);
  return value.is_number_float() ? static_cast<std::int64_t>(number) : value.get<std::int64_t>();
}

inline const Json& array_field(const Json& object, const char* key) {
  static const Json empty = Json::array();
  const Json& value = field(object, key);
  return value.is_array() ? value : empty;
}

inline const Json& object_field(const Json& object, const char* key) {
  static const Json empty = Json::object();
  const Json& value = field(object, key);
  return value.is_object() ? value : empty;
}

/// The text, or null for an empty one.
inline Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace bench
