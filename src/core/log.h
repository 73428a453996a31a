// Messages to the user: one line on stderr. stdout is for results and, in a rank, for records.
#pragma once

#include <string_view>

namespace bench {

enum class Level { info, warning, error };

/// Writes "warning: text" (no prefix for info) as one write, so that lines of several ranks stay
/// whole.
void say(Level level, std::string_view text);

}  // namespace bench
