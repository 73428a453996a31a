// A process that takes time from the calling thread.
#pragma once

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "devices/host_clock.h"

namespace bench {

inline void spin(Seconds length) {
  for (const Seconds end = steady_now() + length; steady_now() < end;) {
  }
}

/// Keeps the core busy on which this thread then stays, while it exists.
class CoreThief {
 public:
  CoreThief() {
    cpu_set_t one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof before_, &before_);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    child_ = fork();
    if (child_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) spin({1.0});
  }
  ~CoreThief() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    sched_setaffinity(0, sizeof before_, &before_);
  }
  CoreThief(const CoreThief&) = delete;
  CoreThief& operator=(const CoreThief&) = delete;

 private:
  cpu_set_t before_ = {};
  pid_t child_ = 0;
};

}  // namespace bench
