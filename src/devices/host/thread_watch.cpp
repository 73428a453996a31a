#include "devices/host/thread_watch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "devices/facts/host_pressure.h"
#include "devices/facts/process_watch.h"
#include "devices/host_clock.h"

namespace bench {
namespace {

// Without schedstat, one switch spoils the sample.
constexpr double kUnknownLoss = 1e9;

int current_tid() { return static_cast<int>(syscall(SYS_gettid)); }

/// Both kinds: a thread that slept (an OpenMP worker at a barrier) and wakes on a busy core waits
/// without an involuntary switch.
long switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw + usage.ru_nvcsw;
}

}  // namespace

HostThreadWatch::HostThreadWatch() { add_current_thread(); }

HostThreadWatch::~HostThreadWatch() {
  for (const Watched& thread : threads_)
    if (thread.file >= 0) close(thread.file);
}

void HostThreadWatch::add_current_thread() {
  const int tid = current_tid();
  const std::lock_guard lock(mutex_);
  for (const Watched& thread : threads_)
    if (thread.tid == tid) return;
  const std::string path = "/proc/self/task/" + std::to_string(tid) + "/schedstat";
  threads_.push_back({tid, open(path.c_str(), O_RDONLY | O_CLOEXEC)});
  switches_ = -1;
}

void HostThreadWatch::remove_current_thread() {
  const int tid = current_tid();
  const std::lock_guard lock(mutex_);
  std::erase_if(threads_, [&](const Watched& thread) {
    if (thread.tid == tid && thread.file >= 0) close(thread.file);
    return thread.tid == tid;
  });
}

double HostThreadWatch::waited(int file) {
  const auto account = read_account(file);
  return account ? account->waited_s : -1.0;
}

void HostThreadWatch::start() {
  const long now = switches();
  if (now == switches_) return;  // the last readings are still valid
  const std::lock_guard lock(mutex_);
  for (Watched& thread : threads_) thread.waited = waited(thread.file);
  switches_ = now;
}

Seconds HostThreadWatch::lost() {
  if (switches() == switches_) return {0.0};
  const std::lock_guard lock(mutex_);
  double worst = 0.0;
  for (const Watched& thread : threads_) {
    const double now = waited(thread.file);
    worst = std::max(worst, now < 0 || thread.waited < 0 ? kUnknownLoss : now - thread.waited);
  }
  return {worst};
}

Seconds HostThreadWatch::cpu_time() { return cpu_time_of(CLOCK_PROCESS_CPUTIME_ID); }

std::optional<MachineTime> HostThreadWatch::machine_time() { return host_machine_time(); }

}  // namespace bench
