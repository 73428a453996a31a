// Whether threads that measure had a core each. A hypervisor may run two virtual CPUs on the two
// hardware threads of one core, or one of them alongside another guest's: nothing in the guest
// tells, no time is stolen and the clock stays, but each thread gets half of a core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "devices/host/kernels_compute.h"

namespace bench {

/// Does `work(thread)` on each of the threads that measure, all at once.
using OnAllThreads = std::function<void(const std::function<void(int thread)>& work)>;

class CoreShare {
 public:
  /// For `threads` threads that run code of an instruction family ("" or unknown: the widest).
  /// Finds out what the calling one gets alone.
  CoreShare(int threads, const std::string& isa);

  /// The smallest share of a core that any thread gets just now: how fast all at once do
  /// multiply-adds, against the fastest that was seen. Takes some 50 us; call it right behind the
  /// work, because it takes a clock that ramps up for a smaller share. Nothing where the threads
  /// did not come together, or there is no such code for this CPU.
  std::optional<double> smallest(const OnAllThreads& on_all);

 private:
  struct alignas(128) Lane {
    std::vector<std::byte> sums;
    double seconds = 0.0;  // 0: not known
  };

  std::optional<ComputeKernel> kernel_;
  Factors factors_ = {};
  std::vector<Lane> lanes_;
  std::int64_t iterations_ = 0;
  double fastest_ = 0.0;
};

}  // namespace bench
