// The environment variables that are kept with a run: those that change what is measured, and no
// others, because an environment holds secrets.
#pragma once

#include "core/json.h"

namespace bench {

/// {name: value} of the allowed ones that are set.
Json kept_environment(const char* const* variables);

/// The command line this program was started with, as an array of texts.
Json kept_command();

}  // namespace bench
