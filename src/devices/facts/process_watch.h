// Time that threads of this process, or of its children, lost to other processes, whoever started
// them: for work on threads that no device knows, such as loaders, file I/O and foreign programs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "core/descriptor.h"
#include "devices/device.h"

namespace bench {

/// The kernel's account of a thread: /proc/PID/task/TID/schedstat.
struct ThreadAccount {
  double ran_s = 0.0;
  double waited_s = 0.0;  // runnable, without a core
  double turns = 0.0;     // times it got a core
};
std::optional<ThreadAccount> thread_account(std::string_view schedstat);
/// Of an open schedstat; nothing if `file` is -1 or its thread has ended.
std::optional<ThreadAccount> read_account(int file);

/// The largest loss of any thread to other processes in `wall`, given what each used of it. A turn
/// costs some microseconds even on an idle machine, which are not lost. Threads that together want
/// more than all `cores` wait for each other: nothing is known then.
Seconds lost_to_others(std::span<const ThreadAccount> used, Seconds wall, int cores);

class ProcessWatch final : public ThreadWatch {
 public:
  enum class Of { process, descendants };
  explicit ProcessWatch(Of whose = Of::process) : of_(whose) {}

  void start() override;
  Seconds lost() override;
  /// Of this process; with descendants, of all that have ended as well.
  Seconds cpu_time() override;
  std::optional<MachineTime> machine_time() override;

 private:
  struct Watched {
    Descriptor file;
    ThreadAccount before = {};
  };
  /// Opens the files of new threads and forgets those that ended.
  void find_threads();
  void add(int process, int thread);

  Of of_;
  std::map<int, Watched> threads_ = {};  // by thread ID
  std::uint64_t known_ = 0;              // threads of this process at the last search
  int cores_ = 1;                        // that any of the threads may use
  Seconds started_ = {};
};

}  // namespace bench
