// Work in place of a model's computation: GEMMs of its shapes, or as much processor time as was
// measured.
#pragma once

#include <cstdint>
#include <vector>

#include "core/record.h"
#include "core/units.h"
#include "probes/traffic/step_schedule.h"
#include "training/kernels/kernel_set.h"
#include "training/kernels/memory.h"

namespace bench {

/// Processor time of this rank's passes in a step; zero: GEMMs as the schedule has them.
struct ComputeSeconds {
  double forward = 0.0, backward = 0.0, update = 0.0;

  double of(TrafficPass pass) const;
  bool given() const { return forward > 0.0 || backward > 0.0 || update > 0.0; }
};

class ComputeStandIn {
 public:
  /// For the computations of `schedule`, by one thread. `given` is divided over a pass by FLOPs.
  ComputeStandIn(const StepSchedule& schedule, const training::KernelSet& kernels, Dtype dtype,
                 const ComputeSeconds& given, std::uint64_t seed);

  /// Before each step, in the thread that computes.
  void begin();
  /// In that thread.
  void run(const TrafficOp& op);
  /// The last GEMM against sums in f64; nothing was computed without one.
  Check check() const;
  /// Bytes of all matrices.
  std::int64_t bytes() const { return a_.bytes() + b_.bytes() + c_.bytes(); }
  /// The same, before it is made.
  static double bytes_of(const StepSchedule& schedule, Dtype dtype, const ComputeSeconds& given);

 private:
  void multiply(const GemmShape& shape, std::int64_t calls);
  training::View view(const training::MemoryBlock& block, std::int64_t rows,
                      std::int64_t columns) const;

  const training::KernelSet& kernels_;
  Dtype dtype_;
  ComputeSeconds given_;
  double pass_flops_[3] = {};
  std::int64_t pass_ops_[3] = {};
  training::MemoryBlock a_, b_, c_;
  GemmShape last_ = {};
  double owed_ = 0.0;  // seconds until the end of the current computation, since begin()
  double done_ = 0.0;  // of them
};

}  // namespace bench
