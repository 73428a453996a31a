// Messages to the user: one line on stderr. stdout is for results and, in ranks, records.
#pragma once

#include <string_view>

namespace bench {

enum class Level { info, warning, error };

/// Writes "warning: text" (no prefix for info) in a single write, so that lines of several ranks
/// are not mixed. What is not printable() is shown escaped.
void say(Level level, std::string_view text);

}  // namespace bench
