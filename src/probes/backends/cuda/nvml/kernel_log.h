// What the kernel logs from now on, where this process may read it (often only root may). A driver
// says in words there what NVML tells as a number, and says it even when NVML does not answer.
#pragma once

#include <string>
#include <vector>

namespace bench {

class KernelLog {
 public:
  /// Begins at the log's end.
  explicit KernelLog(const std::string& path = "/dev/kmsg");
  ~KernelLog();
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;

  /// The lines since the last call, at most some thousands. Never waits.
  std::vector<std::string> take();

 private:
  int file_ = -1;
};

}  // namespace bench
