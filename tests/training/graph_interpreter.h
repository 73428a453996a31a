// Computes a cuDNN graph on the CPU, operation by operation as cuDNN's manual defines them, so that
// the graphs are compared with our own kernels without the library.
#pragma once

#include <cstdint>
#include <map>

#include "training/cuda/cudnn/operation_graph.h"

namespace bench::cudnn {

/// `pointers`: where the tensors that are neither virtual nor constant lie, by id.
void interpret(const OperationGraph& graph, const std::map<std::int64_t, void*>& pointers);

}  // namespace bench::cudnn
