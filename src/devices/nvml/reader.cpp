#include "devices/nvml/reader.h"

#include <fmt/format.h>

#include <limits>

namespace bench::nvml {
namespace {

bool is_over_links(Field field) { return field == kNvlinkTransmitted || field == kNvlinkReceived; }

/// Counts as integers in JSON.
Json shown(const FieldValue& field) {
  if (field.type == kUnsigned64) return field.value.u64;
  if (field.type == kDouble) return field.value.f64;
  const double value = number_of(field);
  return value == value ? Json(static_cast<std::int64_t>(value))
                        : unreadable(fmt::format("unknown value type {}", field.type));
}

}  // namespace

Json Reader::text(const TextCall& call) const {
  std::array<char, 256> buffer{};
  return fact(call(device_, buffer.data(), buffer.size() - 1),
              [&] { return std::string(buffer.data()); });
}

Json Reader::number(const NumberCall& call) const {
  unsigned value = 0;
  return fact(call(device_, &value), [&] { return value; });
}

Json Reader::scaled(const NumberCall& call, double factor) const {
  unsigned value = 0;
  return fact(call(device_, &value), [&] { return value * factor; });
}

Json Reader::flag(const NumberCall& call) const {
  unsigned value = 0;
  return fact(call(device_, &value), [&] { return value == 1; });
}

std::map<Field, Json> Reader::fields(std::span<const Field> wanted) const {
  std::vector<FieldValue> values = make_fields(wanted);
  const Return code = nvml_.fields(device_, static_cast<int>(values.size()), values.data());
  std::map<Field, Json> facts;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Return one = code == kSuccess ? values[i].result : code;
    facts[wanted[i]] = one == kSuccess ? shown(values[i]) : refused(one);
  }
  return facts;
}

Json Reader::link_field(Field field, unsigned link) const {
  std::vector<FieldValue> value = make_fields(std::span(&field, 1));
  value[0].scope = link;
  const Return code = nvml_.fields(device_, 1, value.data());
  const Return one = code == kSuccess ? value[0].result : code;
  return one == kSuccess ? shown(value[0]) : refused(one);
}

std::vector<FieldValue> make_fields(std::span<const Field> wanted) {
  std::vector<FieldValue> values(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    values[i].field = wanted[i];
    values[i].scope = is_over_links(wanted[i]) ? kAllLinks : 0;
    values[i].result = kNotSupported;  // for a driver that writes fewer
  }
  return values;
}

double number_of(const FieldValue& field) {
  switch (field.type) {
    case kDouble:
      return field.value.f64;
    case kUnsigned:
      return field.value.u32;
    case kUnsignedLong:
      return static_cast<double>(field.value.u_long);
    case kUnsigned64:
      return static_cast<double>(field.value.u64);
    case kSigned64:
      return static_cast<double>(field.value.i64);
    case kSigned:
      return field.value.i32;
    case kUnsigned16:
      return field.value.u16;
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

std::string kernel_address(const PciInfo& pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
}

}  // namespace bench::nvml
