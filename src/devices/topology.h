// Components of a machine: processors, caches, memory, devices. Read once, from both a library and
// the kernel, so that the probe can compare them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/units.h"

namespace bench {

struct NumaNode {
  int index = 0;
  Bytes memory;
  int hardware_threads = 0;
};

struct Cache {
  std::string name;  // "l1d", "l2", "l3"
  Bytes size;        // of one
  Bytes line;
  int count = 0;      // of this size in the machine
  int shared_by = 0;  // hardware threads
};

struct PciDevice {
  std::string address;                      // "0000:3b:00.0"
  std::string kind;                         // "network", "nvme", or the class "0x1180"
  std::string id;                           // "10de:2330": vendor and device
  std::string name;                         // empty if unknown
  std::optional<BytesPerSecond> link_rate;  // current, one direction
  std::vector<int> numa_nodes;              // the nearest; several if unknown
  std::vector<std::string> bridges = {};    // towards the processor, nearest first
};

/// A device as the operating system names it.
struct OsDevice {
  std::string name;         // "eth0", "nvme0n1", "mlx5_0"
  std::string kind;         // "network", "infiniband", "block", "gpu", "co-processor", "dma"
  std::string pci_address;  // empty if not on a PCI bus
  /// Library-specific attributes: {"GPUModel": "Tesla V100-SXM3-32GB-H"}.
  std::map<std::string, std::string> infos = {};
};

struct MachineTopology {
  std::string source;  // "hwloc 2.9.0"
  /// False if the library describes another machine, from a file.
  bool this_machine = true;
  int packages = 0;
  int cores = 0;
  int hardware_threads = 0;
  Bytes memory;
  std::vector<NumaNode> numa_nodes;
  std::vector<Cache> caches;
  std::vector<PciDevice> pci_devices;
  std::vector<OsDevice> os_devices;
  /// Library-specific attributes of the machine: {"DMIProductName": "DGX-2H"}.
  std::map<std::string, std::string> infos = {};
};

/// The same according to the kernel; nothing if unreadable.
struct KernelTopology {
  std::optional<int> cores;
  std::optional<int> hardware_threads;
  std::optional<Bytes> memory;
  /// Sum over NUMA nodes: less than `memory` while the kernel still initialises memory.
  std::optional<Bytes> memory_of_nodes;
};

/// A memory module according to the firmware.
struct MemoryModule {
  std::string slot;
  std::string channel;  // empty if not named by the firmware
  std::string type;     // "DDR5"
  Bytes size;
  double transfers_per_second = 0.0;  // as configured; 0 if unknown
  Bytes width;                        // of one transfer, without error correction
};

struct MemoryModules {
  std::vector<MemoryModule> populated;
  std::string unreadable;  // why there are none; empty when they could be read
};

class Topology {
 public:
  virtual ~Topology() = default;
  /// Throws Error(environment) if the library fails.
  virtual MachineTopology machine() = 0;
  virtual KernelTopology kernel() = 0;
  virtual MemoryModules memory_modules() = 0;
  /// Firmware, drivers, disks, NICs and kernel settings; see facts/machine_facts.h.
  virtual Json details(const MachineTopology& machine) = 0;
};

/// The facts "topology"; sizes in bytes, null for unknown.
Json topology_facts(const MachineTopology& machine, const KernelTopology& kernel,
                    const MemoryModules& modules, const Json& details);

}  // namespace bench
