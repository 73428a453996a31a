// Turns calls into facts of one GPU: a value, or {"unreadable": what NVML said}.
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
  /// 1 is true.
  Json flag(const NumberCall& call) const;
  Json refused(Return code) const { return unreadable(nvml_.text(code)); }
  /// `value()` where the call succeeded.
  template <class Value>
  Json fact(Return code, Value value) const {
    return code == kSuccess ? Json(value()) : refused(code);
  }
  /// A fact for each field, all asked in one call.
  std::map<Field, Json> fields(std::span<const Field> wanted) const;
  /// A field that each NVLink has for itself.
  Json link_field(Field field, unsigned link) const;

 private:
  const Library& nvml_;
  Device device_;
};

/// The value in the type it came in, as a double; NaN for a type nobody knows.
double number_of(const FieldValue& field);
/// Those to be asked; the traffic of NVLink is the sum over all links.
std::vector<FieldValue> make_fields(std::span<const Field> wanted);
/// "0000:3b:00.0", as the kernel writes it.
std::string kernel_address(const PciInfo& pci);

}  // namespace bench::nvml
