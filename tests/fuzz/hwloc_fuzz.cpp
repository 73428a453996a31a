// Hostile topologies in hwloc's XML: refused with an Error, or facts can be made of them. hwloc
// itself is not instrumented.
#include <cstdint>
#include <filesystem>

#include "core/json.h"
#include "devices/facts/machine_facts.h"
#include "devices/facts/nearness.h"
#include "devices/host/topology_hwloc.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/input_folder.h"

// hwloc leaks what it read of a file that it refuses.
extern "C" [[gnu::weak]] void __lsan_disable();
extern "C" [[gnu::weak]] void __lsan_enable();

namespace {

bench::MachineTopology read_without_leak_check(const std::filesystem::path& path) {
  struct Pause {
    Pause() {
      if (__lsan_disable != nullptr) __lsan_disable();
    }
    ~Pause() {
      if (__lsan_enable != nullptr) __lsan_enable();
    }
  } pause;
  return bench::read_hwloc(path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  using namespace bench;
  static const fuzz::InputFolder folder;
  if (!hwloc_is_built()) return 0;
  const auto path = folder.write("machine.xml", {reinterpret_cast<const char*>(data), size});
  const MachineTopology machine = read_without_leak_check(path);
  fuzz::demand(!machine.this_machine, "a file passes for this machine");
  fuzz::demand(machine.hardware_threads >= 0 && machine.cores >= 0, "a negative count");
  dump(topology_facts(machine, {}, {}, saved_machine_facts(machine)));
  dump(to_json(place_gpus(machine)));
  for (const PciDevice& device : machine.pci_devices)
    dump(to_json(place_rank(machine, device.address)));
  return 0;
} catch (const bench::Error& error) {
  bench::fuzz::demand(error.kind() == bench::ErrorKind::environment, error.what());
  return 0;
}
