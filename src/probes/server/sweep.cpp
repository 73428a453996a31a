#include "probes/server/sweep.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "core/descriptor.h"
#include "core/job.h"
#include "core/private_folder.h"
#include "core/proc_stat.h"
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

/// The environment is a list of strings, each terminated by a zero byte.
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

/// The processes that still exist, without zombies, which their parent must reap.
std::vector<LeftBehind> remaining(const std::vector<LeftBehind>& processes) {
  std::vector<LeftBehind> still;
  for (const LeftBehind& process : processes)
    if (const auto stat = read_proc_stat(process.pid); stat && stat->state != 'Z')
      still.push_back(process);
  return still;
}

std::string word_for(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "in uninterruptible sleep";
    case 'T':
    case 't':
      return "stopped";
    default:
      return std::string("in state ") + state;
  }
}

/// Writes and removes a page, as a launcher's daemon or a library would do there.
std::string disk_trouble() {
  const std::string folder = temporary_base().string();
  std::string name = folder + "/benchctl-XXXXXX";
  const Descriptor file(mkostemp(name.data(), O_CLOEXEC));
  int reason = file.valid() ? 0 : errno;
  if (file.valid()) {
    const std::string page(4096, 'x');
    errno = ENOSPC;  // a short write sets no errno
    if (write(file.get(), page.data(), page.size()) != static_cast<ssize_t>(page.size()))
      reason = errno;
    unlink(name.c_str());
  }
  return reason == 0 ? "" : "cannot write to " + folder + ": " + std::strerror(reason);
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
  for (const LeftBehind& process : found) parents.erase(process.pid);  // an orted with this mark
  for (const pid_t parent : parents)
    if (name_of(parent) == "orted") found.push_back({parent, "orted"});
  return found;
}

std::string rank_states(const std::string& token) {
  std::map<std::string, int> counts;
  for (const LeftBehind& process : left_behind(token))
    if (const auto stat = read_proc_stat(process.pid); stat && process.name != "orted")
      ++counts[word_for(stat->state)];
  std::vector<std::string> words;
  for (const auto& [state, count] : counts) words.push_back(std::to_string(count) + " " + state);
  return words.empty() ? "none" : join(words, ", ");
}

std::string sweep(const std::string& token) {
  const std::vector<LeftBehind> found = left_behind(token);
  if (found.empty()) return disk_trouble();
  for (const LeftBehind& process : found) kill(process.pid, SIGKILL);
  std::vector<LeftBehind> still = remaining(found);
  for (int look = 0; look < kLooks && !still.empty(); ++look) {
    poll(nullptr, 0, kLookEveryMs);
    still = remaining(still);
  }
  std::string text = "killed processes left by the run: " + described(found);
  for (const LeftBehind& process : still) {
    const auto stat = read_proc_stat(process.pid);
    text += "; process " + std::to_string(process.pid) + " cannot be killed: state " +
            (stat ? std::string(1, stat->state) : "?");
  }
  const std::string disk = disk_trouble();
  return disk.empty() ? text : text + "; " + disk;
}

}  // namespace bench
