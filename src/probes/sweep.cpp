#include "probes/sweep.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "core/proc_stat.h"
#include "core/run_variable.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr int kLookEveryMs = 50;
constexpr int kLooks = 40;

std::string file_of(pid_t pid, const char* name) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string name_of(pid_t pid) {
  std::string name = file_of(pid, "comm");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

/// The environment is a list of texts, each with a zero byte behind it.
bool marked(pid_t pid, const std::string& mark) {
  const std::string all = '\0' + file_of(pid, "environ");
  return all.find('\0' + mark + '\0') != std::string::npos;
}

std::string described(const std::vector<LeftBehind>& processes) {
  std::vector<std::string> names;
  for (const LeftBehind& process : processes)
    names.push_back(printable(process.name) + " " + std::to_string(process.pid));
  return join(names, ", ");
}

/// Those that are still there and no zombies: a zombie is its parent's to collect.
std::vector<LeftBehind> remaining(const std::vector<LeftBehind>& processes) {
  std::vector<LeftBehind> still;
  for (const LeftBehind& process : processes)
    if (const auto stat = read_proc_stat(process.pid); stat && stat->state != 'Z')
      still.push_back(process);
  return still;
}

}  // namespace

std::vector<LeftBehind> left_behind(const std::string& token) {
  const std::string mark = std::string(kRunVariable) + "=" + token;
  std::vector<LeftBehind> found;
  std::set<pid_t> parents;
  for (const ProcStat& process : all_processes()) {
    if (process.pid == getpid() || process.state == 'Z' || !marked(process.pid, mark)) continue;
    found.push_back({process.pid, name_of(process.pid)});
    parents.insert(process.parent);
  }
  for (const LeftBehind& process : found) parents.erase(process.pid);  // an orted of our mark
  for (const pid_t parent : parents)
    if (name_of(parent) == "orted") found.push_back({parent, "orted"});
  return found;
}

std::string sweep(const std::string& token) {
  const std::vector<LeftBehind> found = left_behind(token);
  if (found.empty()) return "";
  for (const LeftBehind& process : found) kill(process.pid, SIGKILL);
  std::vector<LeftBehind> still = remaining(found);
  for (int look = 0; look < kLooks && !still.empty(); ++look) {
    poll(nullptr, 0, kLookEveryMs);
    still = remaining(still);
  }
  std::string text = "ended what the run had left behind there: " + described(found);
  for (const LeftBehind& process : still) {
    const auto stat = read_proc_stat(process.pid);
    text += "; process " + std::to_string(process.pid) + " does not end: state " +
            (stat ? std::string(1, stat->state) : "?");
  }
  return text;
}

}  // namespace bench
