// What a machine is made of: processors, caches, memory, devices. Read once, not measured. Two
// sides tell it (a library and the kernel), so that the probe can compare them.
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
  std::string kind;                         // "network", "nvme", "0x1180" where it has no name
  std::string id;                           // "10de:2330": vendor and device
  std::string name;                         // empty where it is not known
  std::optional<BytesPerSecond> link_rate;  // of the link as it is now, one direction
  std::vector<int> numa_nodes;              // it is nearest to; several where it is not known
  std::vector<std::string> bridges = {};    // on its way to the processor, the nearest one first
};

/// A device as the operating system names it.
struct OsDevice {
  std::string name;         // "eth0", "nvme0n1", "mlx5_0"
  std::string kind;         // "network", "infiniband", "block", "gpu", "co-processor", "dma"
  std::string pci_address;  // empty for one that is on no PCI bus
  /// What the library says of it, in its words: {"GPUModel": "Tesla V100-SXM3-32GB-H"}.
  std::map<std::string, std::string> infos = {};
};

struct MachineTopology {
  std::string source;  // "hwloc 2.9.0"
  /// False when the library was told to describe another machine.
  bool this_machine = true;
  int packages = 0;
  int cores = 0;
  int hardware_threads = 0;
  Bytes memory;
  std::vector<NumaNode> numa_nodes;
  std::vector<Cache> caches;
  std::vector<PciDevice> pci_devices;
  std::vector<OsDevice> os_devices;
  /// What the library says of the whole machine, in its words: {"DMIProductName": "DGX-2H"}.
  std::map<std::string, std::string> infos = {};
};

/// What the kernel says of the same; nothing where it cannot be read.
struct KernelTopology {
  std::optional<int> cores;
  std::optional<int> hardware_threads;
  std::optional<Bytes> memory;
  /// Sum over its NUMA nodes: less than `memory` while the kernel is still setting memory up.
  std::optional<Bytes> memory_of_nodes;
};

/// A memory module as the firmware describes it.
struct MemoryModule {
  std::string slot;
  std::string channel;  // empty where the firmware does not name it
  std::string type;     // "DDR5"
  Bytes size;
  double transfers_per_second = 0.0;  // as configured; 0 where it is not known
  Bytes width;                        // of one transfer, without error correction
};

struct MemoryModules {
  std::vector<MemoryModule> populated;
  std::string unreadable;  // why there are none; empty when they could be read
};

class Topology {
 public:
  virtual ~Topology() = default;
  /// Throws Error(environment) when the library cannot say.
  virtual MachineTopology machine() = 0;
  virtual KernelTopology kernel() = 0;
  virtual MemoryModules memory_modules() = 0;
  /// Firmware, drivers, disks, cards and kernel settings, by parts; facts/machine_facts.h names
  /// them.
  virtual Json details(const MachineTopology& machine) = 0;
};

/// All of it as the facts "topology"; sizes in bytes, null for what is not known.
Json topology_facts(const MachineTopology& machine, const KernelTopology& kernel,
                    const MemoryModules& modules, const Json& details);

}  // namespace bench
