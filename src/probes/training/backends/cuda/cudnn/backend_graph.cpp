#include "probes/training/backends/cuda/cudnn/backend_graph.h"

#include <string>

namespace bench::cudnn {
namespace {

/// What packed rows and arenas are aligned to at least: 8 elements of two bytes.
constexpr std::int64_t kTensorAlignment = 16;

std::vector<std::int64_t> list_of(const Extents& extents) {
  return {extents.begin(), extents.end()};
}

}  // namespace

BackendGraph::BackendGraph(const Library& library, const OperationGraph& graph)
    : library_(library), graph_(library, DescriptorType::operation_graph, "operation graph") {
  for (const GraphTensor& one : graph.tensors) tensors_.push_back(tensor(one));
  for (const GraphOperation& operation : graph.operations) add(operation);
  std::vector<void*> operations;
  for (const Descriptor& operation : operations_) operations.push_back(operation.get());
  graph_.set(Attribute::graph_operations, operations, AttributeType::descriptor).finalize();
}

Descriptor BackendGraph::tensor(const GraphTensor& tensor) const {
  Descriptor made(library_, DescriptorType::tensor, "tensor " + std::to_string(tensor.id));
  made.set(Attribute::tensor_id, tensor.id)
      .set(Attribute::tensor_type, tensor.type)
      .set(Attribute::tensor_sizes, list_of(tensor.sizes))
      .set(Attribute::tensor_strides, list_of(tensor.strides))
      .set(Attribute::tensor_alignment, kTensorAlignment);
  if (tensor.is_virtual) made.set(Attribute::tensor_virtual, true);
  if (tensor.value) made.set(Attribute::tensor_by_value, true);
  made.finalize();
  return made;
}

void BackendGraph::add(const GraphOperation& operation) {
  switch (operation.kind) {
    case OperationKind::matmul:
      return add_matmul(operation);
    case OperationKind::pointwise:
      return add_pointwise(operation);
    case OperationKind::reduction:
      return add_reduction(operation);
    case OperationKind::reshape:
      return add_reshape(operation);
  }
}

void BackendGraph::add_matmul(const GraphOperation& operation) {
  Descriptor& kind = kinds_.emplace_back(library_, DescriptorType::matmul, "matmul");
  kind.set(Attribute::matmul_type, operation.compute).finalize();
  Descriptor made(library_, DescriptorType::operation_matmul, "matmul operation");
  made.set(Attribute::operation_matmul_a, at(operation.inputs[0]))
      .set(Attribute::operation_matmul_b, at(operation.inputs[1]))
      .set(Attribute::operation_matmul_c, at(operation.output))
      .set(Attribute::operation_matmul_descriptor, kind)
      .finalize();
  operations_.push_back(std::move(made));
}

void BackendGraph::add_pointwise(const GraphOperation& operation) {
  Descriptor& kind =
      kinds_.emplace_back(library_, DescriptorType::pointwise, "pointwise function");
  kind.set(Attribute::pointwise_mode, operation.mode)
      .set(Attribute::pointwise_precision, operation.compute);
  if (operation.axis >= 0) kind.set(Attribute::pointwise_axis, std::int64_t{operation.axis});
  kind.finalize();
  Descriptor made(library_, DescriptorType::operation_pointwise,
                  "pointwise operation " + std::to_string(static_cast<int>(operation.mode)));
  made.set(Attribute::operation_pointwise_descriptor, kind)
      .set(Attribute::operation_pointwise_x, at(operation.inputs[0]))
      .set(Attribute::operation_pointwise_y, at(operation.output));
  if (operation.inputs.size() > 1)
    made.set(Attribute::operation_pointwise_b, at(operation.inputs[1]));
  if (operation.inputs.size() > 2)
    made.set(Attribute::operation_pointwise_t, at(operation.inputs[2]));
  made.finalize();
  operations_.push_back(std::move(made));
}

void BackendGraph::add_reduction(const GraphOperation& operation) {
  Descriptor& kind = kinds_.emplace_back(library_, DescriptorType::reduction, "reduction");
  kind.set(Attribute::reduction_operator, operation.reduction)
      .set(Attribute::reduction_type, operation.compute)
      .finalize();
  Descriptor made(library_, DescriptorType::operation_reduction, "reduction operation");
  made.set(Attribute::operation_reduction_descriptor, kind)
      .set(Attribute::operation_reduction_x, at(operation.inputs[0]))
      .set(Attribute::operation_reduction_y, at(operation.output))
      .finalize();
  operations_.push_back(std::move(made));
}

void BackendGraph::add_reshape(const GraphOperation& operation) {
  Descriptor made(library_, DescriptorType::operation_reshape, "reshape");
  made.set(Attribute::operation_reshape_x, at(operation.inputs[0]))
      .set(Attribute::operation_reshape_y, at(operation.output))
      .finalize();
  operations_.push_back(std::move(made));
}

}  // namespace bench::cudnn
