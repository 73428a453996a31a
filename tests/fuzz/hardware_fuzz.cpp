// Hostile hardware files: refused with an Error, or a product that can be found, shown, and asked
// for limits, which are positive numbers.
#include <cmath>
#include <cstdint>

#include "core/json.h"
#include "runner/hardware/device_limits.h"
#include "runner/hardware/hardware_catalogue.h"
#include "runner/hardware/hardware_limits.h"
#include "runner/hardware/hardware_text.h"
#include "tests/fuzz/demand.h"

namespace {

using namespace bench;

DeviceFacts facts_of(const HardwareEntry& entry) {
  DeviceFacts facts;
  facts.name = entry.device_names.empty() ? entry.product : entry.device_names.front();
  facts.memory_bytes = entry.memory.bytes;
  facts.multiprocessors = entry.multiprocessors;
  facts.clock_hz = 1.7e9;
  facts.memory_clock_hz = 2.6e9;
  facts.memory_bus_bits = 5120;
  facts.pcie_generation = 5;
  facts.pcie_lanes = 16;
  facts.links = 18;
  return facts;
}

void check_limits(const HardwareEntry& entry) {
  for (const KnownLimit& known : limits_of_eight(entry, facts_of(entry)))
    fuzz::demand(known.limit.value > 0.0 && std::isfinite(known.limit.value),
                 "a limit that is none: " + known.metric);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::may_refuse([&] {
    const HardwareCatalogue catalogue({hardware_entry(parse_json(text, "fuzz"), "fuzz")});
    const HardwareEntry& entry = catalogue.all().front();
    fuzz::demand(catalogue.find(entry.name) == &entry, "a product that is not found");
    catalogue.match(facts_of(entry));
    check_limits(entry);
    check_hardware(catalogue, entry);
    dump(hardware_document(catalogue, entry));
    hardware_details(catalogue, entry);
  });
  return 0;
}
