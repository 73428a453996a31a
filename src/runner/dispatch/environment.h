// The environment variables stored with a run: only those that affect results, because an
// environment may hold secrets.
#pragma once

#include "core/json.h"

namespace bench {

/// {name: value} of the allowed variables that are set.
Json kept_environment(const char* const* variables);

/// This program's command line, as an array of strings.
Json kept_command();

}  // namespace bench
