#include "devices/facts/memory_modules.h"

#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

/// One memory device structure of SMBIOS 3.3, little endian, with its texts behind it.
struct MemoryDevice {
  unsigned size = 32768 - 1;  // 0x7fff: see the extended size
  unsigned extended_size = 32768;
  unsigned speed = 5600;
  unsigned configured = 4800;
  unsigned extended_configured = 0;
  unsigned type = 0x22;
  unsigned width = 64;
  std::string slot = "DIMM_A1";
  std::string bank = "P0 CHANNEL A";
  unsigned length = 0x5c;

  std::string bytes() const {
    std::string fields(0x5c, '\0');
    const auto put = [&](std::size_t offset, unsigned value, int count) {
      for (int i = 0; i < count; ++i) fields[offset + i] = static_cast<char>(value >> (8 * i));
    };
    put(0x00, 17, 1);
    put(0x01, length, 1);
    put(0x08, width + 8, 2);
    put(0x0a, width, 2);
    put(0x0c, size, 2);
    put(0x10, 1, 1);
    put(0x11, 2, 1);
    put(0x12, type, 1);
    put(0x15, speed, 2);
    put(0x1c, extended_size, 4);
    put(0x20, configured, 2);
    put(0x58, extended_configured, 4);
    return fields.substr(0, length) + slot + '\0' + bank + '\0' + '\0';
  }
};

const std::string kEnd("\x7f\x04\x01\x00\x00\x00", 6);
const std::string kOther = std::string("\x01\x05\x02\x00\x01", 5) + "Maker" + std::string(2, '\0');

TEST_CASE("populated memory modules are read with slot, channel, type, size and speed") {
  const auto modules = parse_memory_modules(kOther + MemoryDevice{}.bytes() + kEnd);
  REQUIRE(modules.size() == 1);
  CHECK(modules[0].slot == "DIMM_A1");
  CHECK(modules[0].channel == "P0 CHANNEL A");
  CHECK(modules[0].type == "DDR5");
  CHECK(modules[0].size.value == 32768.0 * 1048576.0);
  CHECK(modules[0].transfers_per_second == 4800e6);
  CHECK(modules[0].width.value == 8.0);
}

TEST_CASE("empty slots are no modules") {
  MemoryDevice empty;
  empty.size = 0;
  CHECK(parse_memory_modules(empty.bytes() + kEnd).empty());
}

TEST_CASE("sizes below 32 GiB and speeds above 65 GT/s have fields of their own") {
  MemoryDevice small;
  small.size = 16384;
  small.configured = 0xffff;
  small.extended_configured = 70000;
  const auto modules = parse_memory_modules(small.bytes() + kEnd);
  REQUIRE(modules.size() == 1);
  CHECK(modules[0].size.value == 16384.0 * 1048576.0);
  CHECK(modules[0].transfers_per_second == 70000e6);
}

TEST_CASE("an older table without the configured speed gives the rated one") {
  MemoryDevice old;
  old.size = 8192;
  old.length = 0x1b;
  const auto modules = parse_memory_modules(old.bytes() + kEnd);
  REQUIRE(modules.size() == 1);
  CHECK(modules[0].transfers_per_second == 5600e6);
}

TEST_CASE("the module's place is left off its channel") {
  MemoryDevice second;
  second.bank = "Node0 Channel0 Dimm1";
  CHECK(parse_memory_modules(second.bytes())[0].channel == "NODE0 CHANNEL0");
  second.bank = "BANK 3";
  CHECK(parse_memory_modules(second.bytes())[0].channel.empty());
}

TEST_CASE("a table that is cut anywhere gives whole modules and never more") {
  const std::string table = kOther + MemoryDevice{}.bytes() + MemoryDevice{}.bytes() + kEnd;
  for (std::size_t length = 0; length <= table.size(); ++length) {
    const auto modules = parse_memory_modules(std::string_view(table).substr(0, length));
    CHECK(modules.size() <= 2);
  }
  CHECK(parse_memory_modules(table).size() == 2);
}

TEST_CASE("a damaged table ends where it makes no sense") {
  CHECK(parse_memory_modules(std::string(1000, '\0')).empty());
  CHECK(parse_memory_modules(std::string(1000, '\x11')).empty());
  CHECK(parse_memory_modules(std::string("\x11\xff", 2) + std::string(300, '\0')).empty());
}

TEST_CASE("a machine without the firmware table reports the reason") {
  const TemporaryDirectory root;
  const SystemFiles files(root.path());
  CHECK_THAT(read_memory_modules(files).unreadable, Catch::Contains("no firmware table"));

  const auto folder = root.path() / "sys/firmware/dmi/tables";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "DMI") << kEnd;
  CHECK_THAT(read_memory_modules(files).unreadable, Catch::Contains("no populated memory module"));
  std::ofstream(folder / "DMI") << MemoryDevice{}.bytes();
  CHECK(read_memory_modules(files).unreadable.empty());
}

}  // namespace
}  // namespace bench
