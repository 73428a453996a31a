#include "probes/training/backends/cuda/cudnn/descriptor.h"

#include <utility>

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

Descriptor& Descriptor::set(Attribute attribute, std::int64_t value) {
  return put(attribute, AttributeType::int64, 1, &value);
}
Descriptor& Descriptor::set(Attribute attribute, bool value) {
  return put(attribute, AttributeType::boolean, 1, &value);
}
Descriptor& Descriptor::set(Attribute attribute, DataType value) {
  return put(attribute, AttributeType::data_type, 1, &value);
}
Descriptor& Descriptor::set(Attribute attribute, PointwiseMode value) {
  return put(attribute, AttributeType::pointwise_mode, 1, &value);
}
Descriptor& Descriptor::set(Attribute attribute, ReductionOperator value) {
  return put(attribute, AttributeType::reduction_operator, 1, &value);
}
Descriptor& Descriptor::set(Attribute attribute, HeuristicMode value) {
  return put(attribute, AttributeType::heuristic_mode, 1, &value);
}
Descriptor& Descriptor::set(Attribute attribute, const Descriptor& value) {
  return put(attribute, AttributeType::descriptor, 1, &value.descriptor_);
}
Descriptor& Descriptor::set(Attribute attribute, void* pointer) {
  return put(attribute, AttributeType::pointer, 1, &pointer);
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

}  // namespace bench::cudnn
