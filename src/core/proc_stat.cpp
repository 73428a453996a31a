#include "core/proc_stat.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "core/text.h"

namespace bench {

std::optional<ProcStat> read_proc_stat(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(in, line)) return {};
  // The name in parentheses may itself contain parentheses.
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  ProcStat stat;
  stat.pid = pid;
  if (std::sscanf(line.c_str() + name_end + 1, " %c %d %d %d", &stat.state, &stat.parent,
                  &stat.group, &stat.session) != 4)
    return {};
  return stat;
}

std::vector<ProcStat> all_processes() {
  std::vector<ProcStat> result;
  std::error_code failure;
  for (std::filesystem::directory_iterator it("/proc", failure), end; !failure && it != end;
       it.increment(failure)) {
    const auto pid = parse_as<pid_t>(it->path().filename().native());
    if (const auto stat = pid ? read_proc_stat(*pid) : std::nullopt) result.push_back(*stat);
  }
  return result;
}

std::vector<pid_t> living_descendants(pid_t ancestor) {
  std::multimap<pid_t, ProcStat> children;
  for (const ProcStat& process : all_processes()) children.emplace(process.parent, process);
  std::vector<pid_t> found, next = {ancestor};
  while (!next.empty()) {
    const auto [begin, end] = children.equal_range(next.back());
    next.pop_back();
    for (auto child = begin; child != end; ++child) {
      next.push_back(child->second.pid);
      if (child->second.state != 'Z') found.push_back(child->second.pid);
    }
  }
  return found;
}

}  // namespace bench
