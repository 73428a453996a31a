// The threads of the libraries: oneDNN and OpenBLAS both take theirs from OpenMP, which keeps one
// pool. While this lives the pool has one thread on each of the given cores, watched like any other
// measuring thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/backends/host/core_share.h"
#include "probes/backends/host/thread_watch.h"

namespace bench {

class LibraryThreads {
 public:
  /// Throws Error(environment) when a thread cannot be pinned or the pool has another size.
  LibraryThreads(const std::vector<int>& cores, HostThreadWatch& watch);
  ~LibraryThreads();
  LibraryThreads(const LibraryThreads&) = delete;
  LibraryThreads& operator=(const LibraryThreads&) = delete;

  /// What CoreShare::smallest() says of these threads, for code of this instruction family.
  std::optional<double> core_share(const std::string& isa);

 private:
  int count_;
  HostThreadWatch& watch_;
  std::vector<int> caller_affinity_;
  std::optional<CoreShare> cores_ = {};  // made at the first call: few are ever asked
};

}  // namespace bench
