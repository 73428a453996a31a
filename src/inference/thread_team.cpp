#include "inference/thread_team.h"

#include "training/engine/spin_wait.h"

namespace bench::inference {

void ThreadTeam::barrier() {
  const unsigned phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < size())
    return training::wait_while(phase_, phase);
  arrived_.store(0, std::memory_order_relaxed);
  next_.store(0, std::memory_order_relaxed);
  phase_.fetch_add(1, std::memory_order_release);
  phase_.notify_all();
}

}  // namespace bench::inference
