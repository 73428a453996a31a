// Hostile SMBIOS tables: the modules before the damage, each with a size; a table that goes on has
// the same first modules.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "devices/facts/memory_modules.h"
#include "tests/fuzz/demand.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using bench::fuzz::demand;
  const std::string_view table(reinterpret_cast<const char*>(data), size);
  const auto modules = bench::parse_memory_modules(table);
  for (const bench::MemoryModule& module : modules) {
    demand(module.size.value > 0.0 && std::isfinite(module.size.value), "a module of no size");
    demand(module.transfers_per_second >= 0.0, "a negative speed");
    // Both may name the same text.
    demand(std::max(module.slot.size(), module.channel.size()) <= size, "a text from elsewhere");
  }
  demand(modules.size() <= size / 4, "more modules than fit");
  demand(bench::parse_memory_modules(table.substr(0, size / 2)).size() <= modules.size(),
         "fewer modules in more table");
  return 0;
}
