// Time that measuring threads lost to others, from kernel accounting: context switches (cheap), and
// if there were any, the run queue time of each thread (/proc/self/task/N/schedstat, ns). Excludes
// steal time; see HostPressure.
#pragma once

#include <mutex>
#include <vector>

#include "devices/device.h"

namespace bench {

class HostThreadWatch final : public ThreadWatch {
 public:
  /// Watches the calling thread.
  HostThreadWatch();
  ~HostThreadWatch() override;
  HostThreadWatch(const HostThreadWatch&) = delete;
  HostThreadWatch& operator=(const HostThreadWatch&) = delete;

  /// Called by each measuring thread; adding one twice is harmless.
  void add_current_thread();
  /// Must be called before a thread ends.
  void remove_current_thread();

  void start() override;
  Seconds lost() override;
  Seconds cpu_time() override;
  std::optional<MachineTime> machine_time() override;

 private:
  struct Watched {
    int tid;
    int file;           // its schedstat, -1 if the kernel has none
    double waited = 0;  // seconds in the run queue at start()
  };
  static double waited(int file);

  std::mutex mutex_;
  std::vector<Watched> threads_;
  long switches_ = -1;  // of the process, when `waited` was last read
};

}  // namespace bench
