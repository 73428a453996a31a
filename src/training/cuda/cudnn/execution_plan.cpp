#include "training/cuda/cudnn/execution_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"

namespace bench::cudnn {

Descriptor::Descriptor(const Library& library, DescriptorType type, std::string what)
    : cudnn_(&library), what_(std::move(what)) {
  library.check(library.create_descriptor(type, &descriptor_), "create " + what_);
}

Descriptor::~Descriptor() {
  if (descriptor_ != nullptr) cudnn_->destroy_descriptor(descriptor_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : cudnn_(other.cudnn_),
      what_(std::move(other.what_)),
      descriptor_(std::exchange(other.descriptor_, nullptr)) {}

Descriptor& Descriptor::put(Attribute attribute, AttributeType type, std::size_t count,
                            const void* values) {
  const Status status =
      cudnn_->set_attribute(descriptor_, attribute, type, static_cast<std::int64_t>(count), values);
  if (status != kSuccess)
    cudnn_->check(status,
                  "set attribute " + std::to_string(static_cast<int>(attribute)) + " of " + what_);
  return *this;
}

Descriptor& Descriptor::set(Attribute attribute, const Descriptor& value) {
  return put(attribute, AttributeType::descriptor, 1, &value.descriptor_);
}
Descriptor& Descriptor::set(Attribute attribute, void* pointer, AttributeType type) {
  return put(attribute, type, 1, &pointer);
}
Descriptor& Descriptor::set(Attribute attribute, const std::string& text) {
  return put(attribute, AttributeType::character, text.size(), text.data());
}
Descriptor& Descriptor::set(Attribute attribute, const std::vector<std::int64_t>& values) {
  return put(attribute, AttributeType::int64, values.size(), values.data());
}
Descriptor& Descriptor::set(Attribute attribute, const std::vector<void*>& values,
                            AttributeType type) {
  return put(attribute, type, values.size(), values.data());
}

Descriptor& Descriptor::finalize() {
  const Status status = cudnn_->finalize(descriptor_);
  if (status != kSuccess) cudnn_->check(status, "finalize " + what_);
  return *this;
}

std::int64_t Descriptor::number(Attribute attribute) const {
  std::int64_t value = 0, found = 0;
  cudnn_->check(
      cudnn_->get_attribute(descriptor_, attribute, AttributeType::int64, 1, &found, &value),
      "read " + what_);
  return value;
}

std::int64_t Descriptor::count(Attribute attribute, AttributeType type) const {
  std::int64_t found = 0;
  cudnn_->check(cudnn_->get_attribute(descriptor_, attribute, type, 0, &found, nullptr),
                "count elements of " + what_);
  return found;
}

std::int64_t Descriptor::fill(Attribute attribute, std::vector<void*>& descriptors) const {
  std::int64_t found = 0;
  cudnn_->check(cudnn_->get_attribute(descriptor_, attribute, AttributeType::descriptor,
                                      static_cast<std::int64_t>(descriptors.size()), &found,
                                      descriptors.data()),
                "read " + what_);
  return found;
}

namespace {

/// Minimum alignment of packed rows and arenas: 8 elements of two bytes.
constexpr std::int64_t kTensorAlignment = 16;

std::vector<std::int64_t> list_of(const Extents& extents) {
  return {extents.begin(), extents.end()};
}

std::vector<Descriptor> proposed_in(HeuristicMode mode, const Library& library,
                                    const BackendGraph& graph, const Descriptor* device) {
  Descriptor heuristics(library, DescriptorType::engine_heuristics, "heuristics");
  heuristics.set(Attribute::heuristics_graph, graph.descriptor())
      .set(Attribute::heuristics_mode, mode);
  if (device != nullptr) heuristics.set(Attribute::heuristics_device, *device);
  heuristics.finalize();
  const std::int64_t room =
      heuristics.count(Attribute::heuristics_results, AttributeType::descriptor);
  std::vector<Descriptor> engines;
  std::vector<void*> filled;
  for (std::int64_t i = 0; i < room; ++i)
    filled.push_back(
        engines.emplace_back(library, DescriptorType::engine_configuration, "engine").get());
  const std::int64_t found = heuristics.fill(Attribute::heuristics_results, filled);
  while (static_cast<std::int64_t>(engines.size()) > found) engines.pop_back();
  return engines;
}

}  // namespace

BackendGraph::BackendGraph(const Library& library, const OperationGraph& graph, Handle handle)
    : library_(library), graph_(library, DescriptorType::operation_graph, "operation graph") {
  for (const GraphTensor& one : graph.tensors) tensors_.push_back(tensor(one));
  for (const GraphOperation& operation : graph.operations) add(operation);
  std::vector<void*> operations;
  for (const Descriptor& operation : operations_) operations.push_back(operation.get());
  if (handle != nullptr) graph_.set(Attribute::graph_handle, handle, AttributeType::handle);
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
  Descriptor& kind = kinds_.emplace_back(library_, DescriptorType::pointwise, "pointwise function");
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

Descriptor described_device(const Library& library, const std::string& json) {
  Descriptor device(library, DescriptorType::device_properties, "device properties");
  device.set(Attribute::device_json, json).finalize();
  return device;
}

std::vector<Descriptor> proposed_engines(const Library& library, const BackendGraph& graph,
                                         const Descriptor* device) {
  std::vector<Descriptor> engines = proposed_in(HeuristicMode::a, library, graph, device);
  if (engines.empty()) engines = proposed_in(HeuristicMode::fallback, library, graph, device);
  if (engines.empty()) throw Error(ErrorKind::environment, "cuDNN has no engine for the graph");
  return engines;
}

ExecutionPlan::ExecutionPlan(const Library& library, const OperationGraph& graph, Handle handle)
    : library_(library), handle_(handle), graph_(library, graph, handle) {
  std::copy_if(graph.tensors.begin(), graph.tensors.end(), std::back_inserter(constants_),
               [](const GraphTensor& tensor) { return tensor.value.has_value(); });
  std::string reasons;
  for (const Descriptor& engine : proposed_engines(library, graph_)) try {
      auto plan =
          std::make_unique<Descriptor>(library, DescriptorType::execution_plan, "execution plan");
      plan->set(Attribute::plan_handle, handle_, AttributeType::handle)
          .set(Attribute::plan_configuration, engine)
          .finalize();
      workspace_bytes_ = plan->number(Attribute::plan_workspace_bytes);
      plan_ = std::move(plan);
      return;
    } catch (const Error& error) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(error.what());
    }
  throw Error(ErrorKind::environment, "no cuDNN engine supports the graph: " + reasons);
}

void ExecutionPlan::execute(const std::vector<std::pair<std::int64_t, void*>>& pointers,
                            void* workspace) const {
  std::vector<std::int64_t> ids;
  std::vector<void*> places;
  for (const auto& [id, pointer] : pointers) {
    ids.push_back(id);
    places.push_back(pointer);
  }
  std::vector<float> values;
  values.reserve(constants_.size());  // pointers to them must stay
  for (const GraphTensor& constant : constants_) {
    ids.push_back(constant.id);
    places.push_back(&values.emplace_back(*constant.value));
  }
  Descriptor pack(library_, DescriptorType::variant_pack, "variant pack");
  pack.set(Attribute::pack_ids, ids)
      .set(Attribute::pack_pointers, places, AttributeType::pointer)
      .set(Attribute::pack_workspace, workspace)
      .finalize();
  const Status status = library_.execute(handle_, plan_->get(), pack.get());
  if (status != kSuccess) library_.check(status, "execute graph");
}

}  // namespace bench::cudnn
