// Hostile topologies in hwloc's XML: refused with an Error, or facts can be made of them. hwloc
// itself is not instrumented, and files that crash it are left out: benchctl has them read by a
// process of its own (tests/process/topology_test.cpp).
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>

#include "core/json.h"
#include "devices/facts/machine_facts.h"
#include "devices/facts/nearness.h"
#include "devices/host/topology_hwloc.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/input_folder.h"

#if __has_include(<hwloc.h>)
#include <hwloc.h>
#endif

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

#if __has_include(<hwloc.h>)
/// In a child.
bool crashes_hwloc(const std::filesystem::path& path) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) std::signal(signal, SIG_DFL);
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) == 0 &&
        hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
        hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
        hwloc_topology_set_xml(topology, path.c_str()) == 0)
      hwloc_topology_load(topology);
    _exit(0);
  }
  int status = 0;
  return child < 0 || waitpid(child, &status, 0) != child || WIFSIGNALED(status);
}
#else
bool crashes_hwloc(const std::filesystem::path&) { return false; }
#endif

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  using namespace bench;
  static const fuzz::InputFolder folder;
  if (!hwloc_is_built()) return 0;
  const auto path = folder.write("machine.xml", {reinterpret_cast<const char*>(data), size});
  if (crashes_hwloc(path)) return 0;
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
