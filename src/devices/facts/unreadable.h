// Facts that could not be read: {"unreadable": "no permission"} in place of the value. Never a
// guess, never zero, and distinguishable from every value.
#pragma once

#include <string>

#include "core/json.h"

namespace bench {

inline Json unreadable(const std::string& reason) { return {{"unreadable", reason}}; }

inline bool is_unreadable(const Json& fact) {
  return fact.is_object() && fact.size() == 1 && fact.contains("unreadable");
}

}  // namespace bench
