// Warnings about a host's settings and load: what is wrong, how it affects results, what to do.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

/// Most severe first. A fact that is missing or "unreadable" gives no warning.
std::vector<std::string> host_warnings(const Json& facts);

}  // namespace bench
