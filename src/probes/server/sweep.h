// Finds what a run left behind on this host, after its launcher died or gave up, and ends it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace bench {

struct LeftBehind {
  pid_t pid = 0;
  std::string name;
};

/// The processes of rank programs whose environment marks them as this run's, and the launcher's
/// daemons above them. We ourselves are not among them.
std::vector<LeftBehind> left_behind(const std::string& token);

/// What a run's ranks on this host are doing, as the kernel sees it: "2 running, 1 stopped"; "none"
/// where there is none.
std::string rank_states(const std::string& token);

/// Ends them with SIGKILL and waits a moment. "ended 2 processes left behind: bench-rank 12, orted
/// 11"; one that stays is named: "process 12 cannot be killed: state D". A disk that is full is
/// told as well, because launchers fail there in words of their own: "cannot write to /tmp: No
/// space left on device". "" when there was nothing.
std::string sweep(const std::string& token);

}  // namespace bench
