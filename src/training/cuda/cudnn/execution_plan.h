// The execution of a graph by cuDNN: the first engine proposed by its heuristics that this device
// and driver support.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "training/cuda/cudnn/library.h"
#include "training/cuda/cudnn/operation_graph.h"

namespace bench::cudnn {

constexpr AttributeType attribute_type(std::int64_t) { return AttributeType::int64; }
constexpr AttributeType attribute_type(bool) { return AttributeType::boolean; }
constexpr AttributeType attribute_type(DataType) { return AttributeType::data_type; }
constexpr AttributeType attribute_type(PointwiseMode) { return AttributeType::pointwise_mode; }
constexpr AttributeType attribute_type(ReductionOperator) {
  return AttributeType::reduction_operator;
}
constexpr AttributeType attribute_type(HeuristicMode) { return AttributeType::heuristic_mode; }

/// One of cuDNN's backend descriptors: created, given attributes, finalized, destroyed.
class Descriptor {
 public:
  /// `library` must outlive it; `what` names it in errors: "matmul".
  Descriptor(const Library& library, DescriptorType type, std::string what);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&&) = delete;

  BackendDescriptor get() const { return descriptor_; }

  template <class Value>
  requires requires(Value value) { attribute_type(value); }
  Descriptor& set(Attribute attribute, Value value) {
    return put(attribute, attribute_type(value), 1, &value);
  }
  Descriptor& set(Attribute attribute, const Descriptor& value);
  Descriptor& set(Attribute attribute, void* pointer, AttributeType type = AttributeType::pointer);
  Descriptor& set(Attribute attribute, const std::string& text);
  Descriptor& set(Attribute attribute, const std::vector<std::int64_t>& values);
  Descriptor& set(Attribute attribute, const std::vector<void*>& values, AttributeType type);
  /// Nothing may be set afterwards.
  Descriptor& finalize();

  std::int64_t number(Attribute attribute) const;
  /// Number of elements of an attribute.
  std::int64_t count(Attribute attribute, AttributeType type) const;
  /// Fills existing descriptors; returns their number.
  std::int64_t fill(Attribute attribute, std::vector<void*>& descriptors) const;

 private:
  Descriptor& put(Attribute attribute, AttributeType type, std::size_t count, const void* values);

  const Library* cudnn_;
  std::string what_;
  BackendDescriptor descriptor_ = nullptr;
};

/// A graph of operations as cuDNN's descriptors.
class BackendGraph {
 public:
  /// For the GPU of the handle; without one for a device that is described (proposed_engines).
  /// Throws Error(environment) with cuDNN's message if it rejects something.
  BackendGraph(const Library& library, const OperationGraph& graph, Handle handle = nullptr);
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

/// A device that need not be installed, by cuDNN's JSON description.
Descriptor described_device(const Library& library, const std::string& json);

/// Engines with their settings, best first. `device` null: the GPU of the graph's handle. Throws
/// Error(environment) if cuDNN has none.
std::vector<Descriptor> proposed_engines(const Library& library, const BackendGraph& graph,
                                         const Descriptor* device = nullptr);

class ExecutionPlan {
 public:
  /// On the GPU of the handle. Throws Error(environment) with cuDNN's messages if no proposed
  /// engine works. Compiles kernels, which takes seconds.
  ExecutionPlan(const Library& library, const OperationGraph& graph, Handle handle);

  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Enqueues it on the handle's stream. `pointers`: address of each tensor by ID, without
  /// constants.
  void execute(const std::vector<std::pair<std::int64_t, void*>>& pointers, void* workspace) const;

 private:
  const Library& library_;
  const Handle handle_;
  std::vector<GraphTensor> constants_ = {};
  BackendGraph graph_;
  std::unique_ptr<Descriptor> plan_ = {};
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace bench::cudnn
