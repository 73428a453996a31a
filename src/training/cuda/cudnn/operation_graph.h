// A cuDNN operation graph as plain data, which tests can compute without the library.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "training/cuda/cudnn/declarations.h"

namespace bench::cudnn {

/// [batch, heads, rows, columns].
using Extents = std::array<std::int64_t, 4>;

struct GraphTensor {
  std::int64_t id = 0;  // identifies its address in execute()
  DataType type = DataType::f32;
  Extents sizes{}, strides{};       // in elements
  bool is_virtual = false;          // between two operations, not in memory
  std::optional<float> value = {};  // a constant
};

/// A matmul's second factor may have fewer batches or heads, each for a group of adjacent ones of
/// the first. A reduction adds up (or takes the maximum over) the dimensions in which its result is
/// smaller, heads in such groups. A reshape exchanges rows and columns.
enum class OperationKind { matmul, pointwise, reduction, reshape };

/// Tensors are indices of OperationGraph::tensors.
struct GraphOperation {
  OperationKind kind = OperationKind::pointwise;
  std::vector<int> inputs = {};
  int output = 0;
  DataType compute = DataType::f32;
  PointwiseMode mode = PointwiseMode::identity;
  ReductionOperator reduction = ReductionOperator::add;
  int axis = -1;  // of PointwiseMode::index
};

struct OperationGraph {
  std::vector<GraphTensor> tensors = {};
  std::vector<GraphOperation> operations = {};  // in order
};

/// Each call adds one operation and returns the index of its result; IDs of virtual tensors begin
/// with kFirstVirtual.
class GraphBuilder {
 public:
  static constexpr std::int64_t kFirstVirtual = 1000;

  int tensor(const GraphTensor& tensor);
  int constant(std::int64_t id, float value);

  int matmul(int a, int b, int into);
  int matmul(int a, int b, DataType type = DataType::f32);
  int pointwise(PointwiseMode mode, std::vector<int> inputs);
  int pointwise_into(PointwiseMode mode, std::vector<int> inputs, int into);
  int reduce(ReductionOperator reduction, int x);  // over columns
  int reduce_into(ReductionOperator reduction, int x, int into);
  /// Exchanges rows and columns with their strides, so that no data move.
  int transposed(int x, DataType type);
  /// `scores` if the row is at least the column, else `hidden`.
  int select_causal(int scores, int hidden);
  int rounded(PointwiseMode mode, std::vector<int> inputs, DataType type);

  OperationGraph take() { return std::move(graph_); }

 private:
  int virtual_tensor(const Extents& sizes, DataType type);
  const GraphTensor& at(int tensor) const {
    return graph_.tensors[static_cast<std::size_t>(tensor)];
  }
  int add(GraphOperation operation);
  int compared(PointwiseMode mode, std::vector<int> inputs, DataType type, int axis);

  OperationGraph graph_;
};

/// Strides of contiguous rows.
Extents packed_strides(const Extents& sizes);

}  // namespace bench::cudnn
