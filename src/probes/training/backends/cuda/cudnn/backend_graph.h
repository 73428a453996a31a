// A graph of operations as cuDNN's descriptors.
#pragma once

#include <vector>

#include "probes/training/backends/cuda/cudnn/descriptor.h"
#include "probes/training/backends/cuda/cudnn/operation_graph.h"

namespace bench::cudnn {

class BackendGraph {
 public:
  /// Needs no GPU. Throws Error(environment) with cuDNN's words where it takes something for wrong.
  BackendGraph(const Library& library, const OperationGraph& graph);
  const Descriptor& descriptor() const { return graph_; }

 private:
  Descriptor tensor(const GraphTensor& tensor) const;
  void add(const GraphOperation& operation);
  void add_matmul(const GraphOperation& operation);
  void add_pointwise(const GraphOperation& operation);
  void add_reduction(const GraphOperation& operation);
  void add_reshape(const GraphOperation& operation);
  const Descriptor& at(int tensor) const { return tensors_[static_cast<std::size_t>(tensor)]; }

  const Library& library_;
  std::vector<Descriptor> tensors_ = {}, kinds_ = {}, operations_ = {};
  Descriptor graph_;
};

}  // namespace bench::cudnn
