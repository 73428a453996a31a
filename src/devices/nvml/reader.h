// Converts NVML calls into facts of a GPU: a value, or {"unreadable": why}.
#pragma once

#include <map>
#include <span>
#include <string>

#include "core/json.h"
#include "devices/facts/unreadable.h"
#include "devices/nvml/library.h"

namespace bench::nvml {

class Reader {
 public:
  Reader(const Library& nvml, Device device) : nvml_(nvml), device_(device) {}

  const Library& nvml() const { return nvml_; }
  Device device() const { return device_; }

  Json text(const TextCall& call) const;
  Json number(const NumberCall& call) const;
  Json scaled(const NumberCall& call, double factor) const;
  Json flag(const NumberCall& call) const;
  Json refused(Return code) const { return unreadable(nvml_.text(code)); }
  /// `value()` if the call succeeded.
  template <class Value>
  Json fact(Return code, Value value) const {
    return code == kSuccess ? Json(value()) : refused(code);
  }
  /// One fact per field, read in a single call.
  std::map<Field, Json> fields(std::span<const Field> wanted) const;
  /// A field of a single NVLink.
  Json link_field(Field field, unsigned link) const;

 private:
  const Library& nvml_;
  Device device_;
};

/// The value as a double; NaN for an unknown type.
double number_of(const FieldValue& field);
/// Requests for fields; NVLink traffic is summed over all links.
std::vector<FieldValue> make_fields(std::span<const Field> wanted);
/// "0000:3b:00.0".
std::string kernel_address(const PciInfo& pci);

}  // namespace bench::nvml
