// A cuDNN operation graph as plain data: it is made, and
// tests compute it, without the library.
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
  std::int64_t id = 0;  // by which a caller passes its address
  DataType type = DataType::f32;
  Extents sizes{}, strides{};       // in elements
  bool is_virtual = false;          // between two operations, in no memory
  std::optional<float> value = {};  // a constant
};

/// Batch and heads of a product's second factor may be fewer: each then serves a group of
/// neighbours. A reduction adds up (or finds the largest of) what its result has fewer of, heads in
/// such groups. A reshape exchanges rows and columns.
enum class OperationKind { matmul, pointwise, reduction, reshape };

/// Numbers of tensors are their places in OperationGraph::tensors.
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

/// Each call adds one operation and gives the number of its result; ids of virtual tensors begin
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
  /// Rows and columns change places; strides too, so that nothing has to move.
  int transposed(int x, DataType type);
  /// `scores` where the row's number is at least the column's, else `hidden`.
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
