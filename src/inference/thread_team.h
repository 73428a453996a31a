// Threads that go through the phases of one piece of work together: each phase is shared out as
// threads come for more, and ends for all at a barrier.
#pragma once

#include <atomic>
#include <cstdint>

#include "training/engine/worker_pool.h"

namespace bench::inference {

class ThreadTeam {
 public:
  /// Throws Error(environment) if the threads cannot be started.
  explicit ThreadTeam(int threads) : pool_(threads) {}

  int size() const { return pool_.size(); }
  /// work(thread) on every thread. It must not throw between barriers.
  template <class Work>
  void run(const Work& work) {
    next_ = 0;
    pool_.run(work);
  }

  /// Within run(): calls part(first, end) for parts of 0 ... count - 1, about eight for each
  /// thread, and returns when all threads are done with theirs.
  template <class Part>
  void share(std::int64_t count, const Part& part) {
    const std::int64_t eighth = count / (8 * size()), step = eighth > 1 ? eighth : 1;
    for (;;) {
      const std::int64_t first = next_.fetch_add(step, std::memory_order_relaxed);
      if (first >= count) break;
      part(first, first + step < count ? first + step : count);
    }
    barrier();
  }

 private:
  void barrier();

  training::WorkerPool pool_;
  alignas(64) std::atomic<std::int64_t> next_{0};
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<unsigned> phase_{0};
};

}  // namespace bench::inference
