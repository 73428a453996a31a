// The parameters of one rank, shared by its lanes and by the plans of
// training and of evaluation, and the constants.
#pragma once

#include <cstdint>
#include <memory>

#include "probes/training/engine/memory_block.h"
#include "probes/training/engine/plan.h"

namespace bench::training {

class Weights {
 public:
  /// Initial values by the rules of the graph and `seed`, in `memory`.
  Weights(const Plan& plan, std::uint64_t seed, std::shared_ptr<Memory> memory = host_memory());

  /// A parameter or constant. `plan` is the one given or another of a graph with equal parameters;
  /// throws Error(internal) where their arenas differ.
  View view(const Plan& plan, int tensor) const {
    return view(plan, plan.values[static_cast<std::size_t>(tensor)]);
  }
  View view(const Plan& plan, const Slot& slot) const;
  /// All parameters as one row, padding included.
  View all() const;
  /// These weights if they are in host memory, else a copy in host memory.
  Weights on_host() const;
  /// The memory of those views.
  const std::shared_ptr<Memory>& memory() const { return memory_; }

 private:
  std::shared_ptr<Memory> memory_;
  MemoryBlock parameters_;
  MemoryBlock constants_;
  Dtype dtype_;
};

}  // namespace bench::training
