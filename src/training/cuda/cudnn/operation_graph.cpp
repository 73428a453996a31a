#include "training/cuda/cudnn/operation_graph.h"

#include <utility>

namespace bench::cudnn {

Extents packed_strides(const Extents& sizes) {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}

int GraphBuilder::tensor(const GraphTensor& tensor) {
  graph_.tensors.push_back(tensor);
  return static_cast<int>(graph_.tensors.size()) - 1;
}

int GraphBuilder::constant(std::int64_t id, float value) {
  return tensor({id, DataType::f32, {1, 1, 1, 1}, {1, 1, 1, 1}, false, value});
}

int GraphBuilder::virtual_tensor(const Extents& sizes, DataType type) {
  const std::int64_t id = kFirstVirtual + static_cast<std::int64_t>(graph_.tensors.size());
  return tensor({id, type, sizes, packed_strides(sizes), true});
}

int GraphBuilder::add(GraphOperation operation) {
  const int output = operation.output;
  graph_.operations.push_back(std::move(operation));
  return output;
}

int GraphBuilder::matmul(int a, int b, int into) {
  return add({OperationKind::matmul, {a, b}, into});
}

int GraphBuilder::matmul(int a, int b, DataType type) {
  const Extents left = at(a).sizes;
  return matmul(a, b, virtual_tensor({left[0], left[1], left[2], at(b).sizes[3]}, type));
}

int GraphBuilder::pointwise_into(PointwiseMode mode, std::vector<int> inputs, int into) {
  return add({OperationKind::pointwise, std::move(inputs), into, DataType::f32, mode});
}

int GraphBuilder::rounded(PointwiseMode mode, std::vector<int> inputs, DataType type) {
  const int into = virtual_tensor(at(inputs[0]).sizes, type);
  return pointwise_into(mode, std::move(inputs), into);
}

int GraphBuilder::pointwise(PointwiseMode mode, std::vector<int> inputs) {
  return rounded(mode, std::move(inputs), DataType::f32);
}

int GraphBuilder::reduce_into(ReductionOperator reduction, int x, int into) {
  GraphOperation operation{OperationKind::reduction, {x}, into};
  operation.reduction = reduction;
  return add(std::move(operation));
}

int GraphBuilder::reduce(ReductionOperator reduction, int x) {
  Extents sizes = at(x).sizes;
  sizes[3] = 1;
  return reduce_into(reduction, x, virtual_tensor(sizes, DataType::f32));
}

int GraphBuilder::transposed(int x, DataType type) {
  GraphTensor turned = at(x);
  turned.id = kFirstVirtual + static_cast<std::int64_t>(graph_.tensors.size());
  turned.type = type;
  turned.is_virtual = true;
  std::swap(turned.sizes[2], turned.sizes[3]);
  std::swap(turned.strides[2], turned.strides[3]);
  return add({OperationKind::reshape, {x}, tensor(turned)});
}

int GraphBuilder::compared(PointwiseMode mode, std::vector<int> inputs, DataType type, int axis) {
  const int into = virtual_tensor(at(inputs[0]).sizes, type);
  GraphOperation operation{OperationKind::pointwise, std::move(inputs), into, type, mode};
  operation.axis = axis;
  return add(std::move(operation));
}

int GraphBuilder::select_causal(int scores, int hidden) {
  const int row = compared(PointwiseMode::index, {scores}, DataType::int32, 2);
  const int column = compared(PointwiseMode::index, {scores}, DataType::int32, 3);
  const int seen = compared(PointwiseMode::greater_or_equal, {row, column}, DataType::boolean, -1);
  return pointwise(PointwiseMode::select, {scores, hidden, seen});
}

}  // namespace bench::cudnn
