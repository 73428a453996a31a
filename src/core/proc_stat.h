// Process status from /proc/PID/stat, to find all processes of a session.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace bench {

struct ProcStat {
  pid_t pid = 0;
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
};

std::optional<ProcStat> read_proc_stat(pid_t pid);
std::vector<ProcStat> all_processes();
/// Living descendants, without zombies.
std::vector<pid_t> living_descendants(pid_t ancestor);

}  // namespace bench
