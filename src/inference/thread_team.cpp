#include "inference/thread_team.h"

namespace bench::inference {
namespace {

// As long as a thread of WorkerPool spins: longer would block a core that others share.
constexpr int kBarrierSpins = 2000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void ThreadTeam::barrier() {
  const unsigned phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size()) {
    arrived_.store(0, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    phase_.fetch_add(1, std::memory_order_release);
    phase_.notify_all();
    return;
  }
  for (int i = 0; i < kBarrierSpins; ++i) {
    if (phase_.load(std::memory_order_acquire) != phase) return;
    relax();
  }
  phase_.wait(phase, std::memory_order_acquire);
}

}  // namespace bench::inference
