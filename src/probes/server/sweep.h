// Finds and kills the processes that a run left on this host after its launcher died or gave up.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace bench {

struct LeftBehind {
  pid_t pid = 0;
  std::string name;
};

/// The processes of rank programs whose environment has the mark of this run, and the launcher's
/// daemons above them; without this process.
std::vector<LeftBehind> left_behind(const std::string& token);

/// The process states of a run's ranks on this host: "2 running, 1 stopped"; "none" without ranks.
std::string rank_states(const std::string& token);

/// Kills them with SIGKILL and waits a moment. "killed processes left by the run: bench-rank 12,
/// orted 11"; if one survives: "process 12 cannot be killed: state D". Also reports a full disk,
/// because launchers fail there with misleading errors: "cannot write to /tmp: No space left on
/// device". "" if there was nothing.
std::string sweep(const std::string& token);

}  // namespace bench
