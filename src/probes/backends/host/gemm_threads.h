// The threads of the libraries: oneDNN and OpenBLAS both take theirs from OpenMP, which keeps one
// pool. While this lives the pool has one thread on each of the given cores, watched like any other
// measuring thread.
#pragma once

#include <functional>
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

  int count() const { return count_; }
  /// work(thread) on every thread of the pool at once. `work` must not throw.
  void run(const std::function<void(int thread)>& work) const;

 private:
  int count_;
  HostThreadWatch& watch_;
  std::vector<int> caller_affinity_;
};

/// What CoreShare::smallest() says of these threads; `cores` is made at the first call, because few
/// plans are ever asked.
std::optional<double> share_of(std::optional<CoreShare>& cores, const LibraryThreads& threads,
                               const std::string& isa);

}  // namespace bench
