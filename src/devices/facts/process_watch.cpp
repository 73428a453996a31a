#include "devices/facts/process_watch.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "devices/facts/host_pressure.h"
#include "devices/host_clock.h"

namespace bench {
namespace {

// Between waking and running on an idle core of a virtual machine; a busy core takes milliseconds.
constexpr double kTurnSeconds = 50e-6;
constexpr double kMoreThanAll = 1.05;  // of the time of all cores
constexpr double kTickSeconds =
    0.01;  // the kernel updates the account of a running thread so often

std::filesystem::path tasks_of(int process) { return "/proc/" + std::to_string(process) + "/task"; }

/// Names that are numbers; empty if the process has ended.
std::vector<int> threads_of(int process) {
  std::vector<int> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(tasks_of(process), error))
    threads.push_back(std::atoi(entry.path().filename().c_str()));
  return threads;
}

std::vector<int> children_of(int process, int thread) {
  std::ifstream in(tasks_of(process) / std::to_string(thread) / "children");
  std::vector<int> children;
  for (int child = 0; in >> child;) children.push_back(child);
  return children;
}

ThreadAccount since(const ThreadAccount& before, const ThreadAccount& now) {
  return {now.ran_s - before.ran_s, now.waited_s - before.waited_s, now.turns - before.turns};
}

double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void add_cores(int thread, std::set<int>& cores) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(thread, sizeof allowed, &allowed) != 0) return;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed)) cores.insert(core);
}

}  // namespace

std::optional<ThreadAccount> thread_account(std::string_view schedstat) {
  std::array<std::uint64_t, 3> fields{};  // ns, ns, count
  for (std::uint64_t& field : fields) {
    schedstat.remove_prefix(std::min(schedstat.find_first_not_of(' '), schedstat.size()));
    const char* end = schedstat.data() + schedstat.size();
    const auto read = std::from_chars(schedstat.data(), end, field);
    if (read.ec != std::errc()) return {};
    schedstat.remove_prefix(static_cast<std::size_t>(read.ptr - schedstat.data()));
  }
  const auto seconds = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; };
  return ThreadAccount{seconds(fields[0]), seconds(fields[1]), static_cast<double>(fields[2])};
}

std::optional<ThreadAccount> read_account(int file) {
  std::array<char, 96> text{};
  const ssize_t got = file < 0 ? -1 : pread(file, text.data(), text.size(), 0);
  if (got <= 0) return {};
  return thread_account({text.data(), static_cast<std::size_t>(got)});
}

Seconds lost_to_others(std::span<const ThreadAccount> used, Seconds wall, int cores) {
  double wanted = 0.0, least = kMoreThanAll * cores * wall.value, worst = 0.0;
  for (const ThreadAccount& thread : used) {
    wanted += thread.ran_s + thread.waited_s;
    if (thread.ran_s > 0.0) least += kTickSeconds;
    worst = std::max(worst, thread.waited_s - kTurnSeconds * thread.turns);
  }
  return {wanted > least ? 0.0 : worst};
}

void ProcessWatch::add(int process, int thread) {
  if (threads_.contains(thread)) return;
  const auto path = tasks_of(process) / std::to_string(thread) / "schedstat";
  threads_[thread].file = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

void ProcessWatch::find_threads() {
  struct stat tasks {};
  const bool own = of_ == Of::process;
  if (own && stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == known_) return;
  known_ = tasks.st_nlink;
  std::set<int> found, cores;
  std::vector<int> processes = {getpid()};
  for (std::size_t i = 0; i < processes.size(); ++i)
    for (const int thread : threads_of(processes[i])) {
      if (!own) {
        const auto children = children_of(processes[i], thread);
        processes.insert(processes.end(), children.begin(), children.end());
        if (i == 0) continue;  // ours only wait for theirs
      }
      add(processes[i], thread);
      add_cores(thread, cores);
      found.insert(thread);
    }
  std::erase_if(threads_, [&](const auto& one) { return !found.contains(one.first); });
  cores_ = std::max<int>(1, static_cast<int>(cores.size()));
}

void ProcessWatch::start() {
  find_threads();
  bool ended = false;
  for (auto& [id, thread] : threads_) {
    const auto now = read_account(thread.file.get());
    ended = ended || !now;
    thread.before = now.value_or(ThreadAccount{});
  }
  if (ended) known_ = 0;  // replaced by as many others
  started_ = steady_now();
}

Seconds ProcessWatch::lost() {
  if (of_ == Of::process) find_threads();  // a search for descendants takes longer
  std::vector<ThreadAccount> used;
  for (auto& [id, thread] : threads_)
    if (const auto now = read_account(thread.file.get()))
      used.push_back(since(thread.before, *now));
  return lost_to_others(used, steady_now() - started_, cores_);
}

Seconds ProcessWatch::cpu_time() {
  return {cpu_seconds(RUSAGE_SELF) + (of_ == Of::descendants ? cpu_seconds(RUSAGE_CHILDREN) : 0.0)};
}

std::optional<MachineTime> ProcessWatch::machine_time() { return host_machine_time(); }

}  // namespace bench
