// The user's name for the journal.
#pragma once

#include <string>

namespace bench {

/// Name of the real user, or the UID if it has no name.
std::string user_name();

}  // namespace bench
