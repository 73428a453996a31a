// NCCL's log of this process, kept in memory: the only place where it reports algorithms and
// connections. It does not lengthen samples: NCCL writes while it enqueues, before the ranks meet
// and the gate of the stream opens (stream_timer.h).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "devices/collectives.h"

namespace bench {

class NcclLog {
 public:
  /// Sets NCCL_DEBUG, NCCL_DEBUG_SUBSYS and NCCL_DEBUG_FILE, which NCCL reads at its first call. If
  /// NCCL_DEBUG or NCCL_DEBUG_FILE is already set, it is kept and nothing is known here.
  NcclLog();
  /// The log of this process: NCCL reads the variables once and writes to the first file only.
  static NcclLog& of_process();
  ~NcclLog();
  NcclLog(const NcclLog&) = delete;
  NcclLog& operator=(const NcclLog&) = delete;

  /// How the last operation since the previous call was performed; nothing if not reported.
  std::optional<CollectiveChoice> chosen();
  /// Paths reported so far.
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
