// Measuring threads, each pinned to a core. The caller is thread 0 and is pinned during the
// lifetime of the team. Between runs the others spin before they sleep, so that a run starts within
// a microsecond; run() returns when all are done.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "devices/host/thread_watch.h"

namespace bench {

class Team {
 public:
  /// One thread per core. Throws Error(environment) if a thread cannot be pinned.
  Team(std::vector<int> cores, HostThreadWatch& watch);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(cores_.size()); }
  /// Runs `work(thread)` on every thread, 0 <= thread < size(). `work` must not throw.
  void run(const std::function<void(int thread)>& work);

 private:
  void serve(int thread);

  std::vector<int> cores_;
  std::vector<int> caller_affinity_;
  HostThreadWatch& watch_;
  const std::function<void(int)>* work_ = nullptr;
  std::atomic<unsigned> generation_{0};
  std::atomic<int> ready_{0};
  std::atomic<int> done_{0};
  std::atomic<int> unpinned_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace bench
