// A fact that could not be read says why, in the place of its value: {"unreadable": "no
// permission"}. It is never a guess and never zero, and a reader of the facts can tell it from
// every value.
#pragma once

#include <string>

#include "core/json.h"

namespace bench {

inline Json unreadable(const std::string& reason) { return {{"unreadable", reason}}; }

inline bool is_unreadable(const Json& fact) {
  return fact.is_object() && fact.size() == 1 && fact.contains("unreadable");
}

}  // namespace bench
