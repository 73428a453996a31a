// One of cuDNN's backend descriptors: made, given attributes, finalized, destroyed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/training/backends/cuda/cudnn/library.h"

namespace bench::cudnn {

class Descriptor {
 public:
  /// `library` must outlive it; `what` names it in errors: "matmul".
  Descriptor(const Library& library, DescriptorType type, std::string what);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&&) = delete;

  BackendDescriptor get() const { return descriptor_; }

  Descriptor& set(Attribute attribute, std::int64_t value);
  Descriptor& set(Attribute attribute, bool value);
  Descriptor& set(Attribute attribute, DataType value);
  Descriptor& set(Attribute attribute, PointwiseMode value);
  Descriptor& set(Attribute attribute, ReductionOperator value);
  Descriptor& set(Attribute attribute, HeuristicMode value);
  Descriptor& set(Attribute attribute, const Descriptor& value);
  Descriptor& set(Attribute attribute, void* pointer);
  Descriptor& set(Attribute attribute, const std::string& text);
  Descriptor& set(Attribute attribute, const std::vector<std::int64_t>& values);
  Descriptor& set(Attribute attribute, const std::vector<void*>& values, AttributeType type);
  /// Nothing may be set afterwards.
  Descriptor& finalize();

  std::int64_t number(Attribute attribute) const;
  /// How many there are of an attribute.
  std::int64_t count(Attribute attribute, AttributeType type) const;
  /// Fills descriptors that exist already; says how many it filled.
  std::int64_t fill(Attribute attribute, std::vector<void*>& descriptors) const;

 private:
  Descriptor& put(Attribute attribute, AttributeType type, std::size_t count, const void* values);

  const Library* cudnn_;
  std::string what_;
  BackendDescriptor descriptor_ = nullptr;
};

}  // namespace bench::cudnn
