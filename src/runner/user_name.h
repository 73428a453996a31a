// Who decides: the name of the user, for the journal.
#pragma once

#include <string>

namespace bench {

/// Of the real user; the number where there is no name.
std::string user_name();

}  // namespace bench
