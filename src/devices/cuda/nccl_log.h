// NCCL's own log of this process, kept in memory: the one place where it tells which algorithm it
// took and what it joined the ranks over. A sample is not longer for it: what NCCL writes it writes
// while it enqueues, before the ranks meet and the stream's gate opens (stream_timer.h).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "devices/collectives.h"

namespace bench {

class NcclLog {
 public:
  /// Sets NCCL_DEBUG, NCCL_DEBUG_SUBSYS and NCCL_DEBUG_FILE, which NCCL reads at its first call.
  /// Where somebody has set one of the first and the last, it is theirs, and nothing is known here.
  NcclLog();
  /// The one of this process: NCCL reads the variables once, and writes to the first file alone.
  static NcclLog& of_process();
  ~NcclLog();
  NcclLog(const NcclLog&) = delete;
  NcclLog& operator=(const NcclLog&) = delete;

  /// How the last operation since the call before was done; nothing where that was not said.
  std::optional<CollectiveChoice> chosen();
  /// What was said of paths so far.
  const UsedPaths& used_paths();

 private:
  std::string unread();
  void read();

  int file_ = -1;
  off_t seen_ = 0;
  std::optional<CollectiveChoice> choice_;
  UsedPaths paths_;
};

}  // namespace bench
