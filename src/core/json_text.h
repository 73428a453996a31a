// A value of JSON as a person reads it.
#pragma once

#include <string>

#include "core/json.h"

namespace bench {

/// Text without its quotes; anything else as JSON writes it.
inline std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : dump(value);
}

}  // namespace bench
