// Computes a graph for cuDNN on the CPU, operation by operation as cuDNN's manual defines them, so
// that what is asked of the library is held against our own kernels without it.
#pragma once

#include <cstdint>
#include <map>

#include "probes/training/backends/cuda/cudnn/operation_graph.h"

namespace bench::cudnn {

/// `pointers`: where the tensors that are neither virtual nor constant lie, by id.
void interpret(const OperationGraph& graph, const std::map<std::int64_t, void*>& pointers);

}  // namespace bench::cudnn
