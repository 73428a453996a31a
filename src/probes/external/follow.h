// Runs a command on the ranks of a group until all of them have ended, reading what they print as
// it comes. A command that ends badly on one rank, and the deadline, end all the others.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "probes/external/rank_output.h"
#include "probes/external/supervised.h"
#include "probes/external/verdict.h"
#include "probes/group.h"

namespace bench::external {

struct FollowSettings {
  Seconds deadline = {60.0};
  /// How often the ranks tell rank 0 their news, and learn whether to go on.
  Seconds tick = {0.25};
};

/// What stands at rank 0 for each text with MLLOG's token, of any rank: the line, or the text and
/// why it is none.
struct LogTaker {
  std::function<void(const LoggedLine& line)> line;
  std::function<void(std::string_view text, const std::string& trouble)> trouble;
};

/// `command`: of this rank; null where it has none. `log`: what it prints. Every rank must call it;
/// the result, and the lines, are rank 0's. Throws no Error once the command runs.
FinishedRun follow(Group& group, Supervised* command, RankOutput& log, const std::string& log_path,
                   const FollowSettings& settings, const LogTaker& take);

}  // namespace bench::external
