// Reads the facts of a host as an experienced colleague would: what in them makes measurements
// worse or mean less, what that does to the numbers, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

/// Plain sentences, the gravest first; empty for a host with nothing to complain of. A fact that is
/// missing or "unreadable" never hurts.
std::vector<std::string> host_warnings(const Json& facts);

}  // namespace bench
