// Whether measuring threads have a core each. A hypervisor may place two virtual CPUs on one core,
// or share it with another guest: invisible in the guest, without steal or clock changes, but each
// thread gets half of a core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "devices/host/kernels_compute.h"

namespace bench {

/// Runs `work(thread)` on all measuring threads at once.
using OnAllThreads = std::function<void(const std::function<void(int thread)>& work)>;

class CoreShare {
 public:
  /// For `threads` threads running code of an instruction set ("" or unknown: the widest). Measures
  /// what the calling thread gets alone.
  CoreShare(int threads, const std::string& isa);

  /// The smallest share of a core that any thread just got: multiply-add speed of all threads at
  /// once relative to the fastest observed. Takes about 50 us; call it directly after the work,
  /// because a rising clock looks like a smaller share. Nothing if the threads did not work at
  /// the same time, or there is no such code for this CPU.
  std::optional<double> smallest(const OnAllThreads& on_all);

 private:
  struct alignas(128) Lane {
    std::vector<std::byte> sums;
    double seconds = 0.0;           // 0: unknown
    double begin = 0.0, end = 0.0;  // of its work
  };

  std::optional<ComputeKernel> kernel_;
  Factors factors_ = {};
  std::vector<Lane> lanes_;
  std::int64_t iterations_ = 0;
  double fastest_ = 0.0;
};

}  // namespace bench
