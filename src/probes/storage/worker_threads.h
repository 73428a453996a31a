// Threads of a load that start at one moment.
#pragma once

#include <exception>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "core/units.h"
#include "devices/host_clock.h"

namespace bench::storage {

/// Calls worker->run(start) of each worker in a thread of its own, where `start` is a moment at
/// which all threads exist, and waits for all. Throws the first worker's `failure`, if any.
template <class Worker>
void run_workers(const std::vector<std::unique_ptr<Worker>>& workers) {
  std::latch ready(static_cast<std::ptrdiff_t>(workers.size()) + 1), go(1);
  Seconds start;
  {
    std::vector<std::jthread> threads;
    for (const auto& worker : workers)
      threads.emplace_back([&, one = worker.get()] {
        ready.count_down();
        go.wait();
        one->run(start);
      });
    ready.arrive_and_wait();
    start = steady_now();
    go.count_down();
  }
  for (const auto& worker : workers)
    if (worker->failure) std::rethrow_exception(worker->failure);
}

}  // namespace bench::storage
