// How cuDNN computes a graph: what its heuristics propose, and the first of those that this device
// and driver can do.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "probes/training/backends/cuda/cudnn/backend_graph.h"

namespace bench::cudnn {

/// A device that is described, not there: `json` as cuDNN's own description of it reads.
Descriptor described_device(const Library& library, const std::string& json);

/// Engines with their settings, best first. `device` null: the GPU that is current. Throws
/// Error(environment) where cuDNN knows none.
std::vector<Descriptor> proposed_engines(const Library& library, const BackendGraph& graph,
                                         const Descriptor* device = nullptr);

class ExecutionPlan {
 public:
  /// On the GPU that is current. Throws Error(environment) with cuDNN's words where none of the
  /// proposed engines can be had. Compiles kernels: seconds.
  ExecutionPlan(const Library& library, const OperationGraph& graph);

  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Enqueues it on the handle's stream. `pointers`: where the tensors of each id lie, constants
  /// left out.
  void execute(Handle handle, const std::vector<std::pair<std::int64_t, void*>>& pointers,
               void* workspace) const;

 private:
  const Library& library_;
  std::vector<GraphTensor> constants_ = {};
  BackendGraph graph_;
  std::unique_ptr<Descriptor> plan_ = {};
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace bench::cudnn
