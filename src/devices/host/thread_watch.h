// Tells how much time measuring threads lost to others, from the kernel's own account: context
// switches (cheap to ask for) and, when there were any, the time each thread stood in the run queue
// (/proc/self/task/N/schedstat, nanoseconds). Time a hypervisor takes is not in there; see
// HostPressure.
#pragma once

#include <mutex>
#include <vector>

#include "devices/device.h"

namespace bench {

class HostThreadWatch final : public ThreadWatch {
 public:
  /// Watches the calling thread from the start.
  HostThreadWatch();
  ~HostThreadWatch() override;
  HostThreadWatch(const HostThreadWatch&) = delete;
  HostThreadWatch& operator=(const HostThreadWatch&) = delete;

  /// Called by each thread that will do measured work. Adding one twice is harmless.
  void add_current_thread();
  /// A thread that ends must leave first.
  void remove_current_thread();

  void start() override;
  Seconds lost() override;
  Seconds cpu_time() override;
  std::optional<MachineTime> machine_time() override;

 private:
  struct Watched {
    int tid;
    int file;           // its schedstat, -1 where the kernel keeps none
    double waited = 0;  // seconds in the run queue at start()
  };
  static double waited(int file);

  std::mutex mutex_;
  std::vector<Watched> threads_;
  long switches_ = -1;  // of the process, when `waited` was last read
};

}  // namespace bench
