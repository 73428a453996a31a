#include "devices/facts/memory_modules.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/text.h"

namespace bench {
namespace {

constexpr std::uint8_t kMemoryDevice = 17;
constexpr std::size_t kHeader = 4;  // type, length, handle
const std::string kTable = "sys/firmware/dmi/tables/DMI";

/// One structure: numbers at fixed offsets and texts with indices from 1. Fields beyond its length
/// (older versions of the standard) read as 0 or "".
class Structure {
 public:
  Structure(std::string_view fields, std::string_view texts) : fields_(fields), texts_(texts) {}

  std::uint32_t number(std::size_t offset, std::size_t bytes) const {
    if (offset + bytes > fields_.size()) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = bytes; i-- > 0;)  // little endian
      value = value << 8 | static_cast<std::uint8_t>(fields_[offset + i]);
    return value;
  }

  std::string text(std::size_t offset) const {
    std::string_view rest = texts_;
    for (std::uint32_t wanted = number(offset, 1); wanted > 0 && !rest.empty(); --wanted) {
      const std::string_view one = rest.substr(0, rest.find('\0'));
      if (wanted == 1) return std::string(trim(one));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    }
    return {};
  }

 private:
  std::string_view fields_, texts_;
};

Bytes size_of(const Structure& device) {
  constexpr std::uint32_t kUnknown = 0xffff, kExtended = 0x7fff, kInKilobytes = 0x8000;
  const std::uint32_t size = device.number(0x0c, 2);
  if (size == 0 || size == kUnknown) return {};
  if (size == kExtended) return {double(device.number(0x1c, 4) & 0x7fffffff) * 1048576.0};
  if (size & kInKilobytes) return {double(size & ~kInKilobytes) * 1024.0};
  return {double(size) * 1048576.0};
}

/// In 1e6 transfers/s; in the longer field if the short one cannot hold it.
double speed(const Structure& device, std::size_t offset, std::size_t extended) {
  constexpr std::uint32_t kExtended = 0xffff;
  const std::uint32_t value = device.number(offset, 2);
  return 1e6 * (value == kExtended ? device.number(extended, 4) & 0x7fffffff : value);
}

std::string type_name(std::uint32_t type) {
  struct Name {
    std::uint32_t type;
    const char* name;
  };
  static constexpr Name kNames[] = {
      {0x13, "DDR2"}, {0x18, "DDR3"}, {0x1a, "DDR4"}, {0x1d, "LPDDR3"}, {0x1e, "LPDDR4"},
      {0x20, "HBM"},  {0x21, "HBM2"}, {0x22, "DDR5"}, {0x23, "LPDDR5"}, {0x24, "HBM3"}};
  for (const Name& known : kNames)
    if (known.type == type) return known.name;
  return "type " + std::to_string(type);
}

/// "P0 CHANNEL A" of "P0 CHANNEL A DIMM 1": modules on one channel share its rate.
std::string channel(std::string bank) {
  bank = to_upper(bank);
  if (bank.find("CHANNEL") == std::string::npos) return {};
  return std::string(trim(std::string_view(bank).substr(0, bank.find("DIMM"))));
}

MemoryModule module_of(const Structure& device) {
  MemoryModule module;
  module.size = size_of(device);
  module.slot = device.text(0x10);
  module.channel = channel(device.text(0x11));
  module.type = type_name(device.number(0x12, 1));
  module.transfers_per_second = speed(device, 0x20, 0x58);
  if (module.transfers_per_second == 0.0) module.transfers_per_second = speed(device, 0x15, 0x54);
  const std::uint32_t bits = device.number(0x0a, 2);
  module.width = {bits == 0xffff ? 0.0 : bits / 8.0};
  return module;
}

}  // namespace

std::vector<MemoryModule> parse_memory_modules(std::string_view table) {
  std::vector<MemoryModule> modules;
  while (table.size() >= kHeader) {
    const auto type = static_cast<std::uint8_t>(table[0]);
    const auto length = static_cast<std::uint8_t>(table[1]);
    // The texts follow the fields; two zero bytes end them.
    const auto end =
        length < kHeader ? std::string_view::npos : table.find(std::string_view("\0\0", 2), length);
    if (end == std::string_view::npos) break;
    const Structure device(table.substr(0, length), table.substr(length, end - length));
    if (type == kMemoryDevice && size_of(device).value > 0.0) modules.push_back(module_of(device));
    table.remove_prefix(end + 2);
  }
  return modules;
}

MemoryModules read_memory_modules(const SystemFiles& files) {
  constexpr std::size_t kLargestTable = 1u << 20;
  MemoryModules modules;
  if (!files.exists(kTable)) {
    modules.unreadable = "no /" + kTable + ": no firmware tables, as in many virtual machines";
  } else if (const auto table = files.bytes(kTable, kLargestTable); !table) {
    modules.unreadable = "/" + kTable + " is readable by root only";
  } else {
    modules.populated = parse_memory_modules(*table);
    if (modules.populated.empty())
      modules.unreadable = "the firmware table /" + kTable + " lists no populated memory module";
  }
  return modules;
}

}  // namespace bench
