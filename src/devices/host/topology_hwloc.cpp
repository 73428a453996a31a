#include "devices/host/topology_hwloc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/error.h"

#ifdef BENCH_HWLOC
#include <hwloc.h>
#endif

namespace bench {
#ifdef BENCH_HWLOC
namespace {

using HwlocTopology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

/// Without devices, which take longest; only what the cgroup allows.
HwlocTopology load() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) < 0) return {nullptr, hwloc_topology_destroy};
  HwlocTopology owner(topology, hwloc_topology_destroy);
  if (hwloc_topology_load(topology) < 0) owner.reset();
  return owner;
}

std::vector<int> members(hwloc_const_bitmap_t set) {
  std::vector<int> numbers;
  for (int one = hwloc_bitmap_first(set); one >= 0; one = hwloc_bitmap_next(set, one))
    numbers.push_back(one);
  return numbers;
}

std::string refused(const char* what) {
  return fmt::format("cannot bind {}: {}", what, std::strerror(errno));
}

void bind_threads(hwloc_topology_t topology, hwloc_obj_t node, NodeBinding& binding) {
  if (hwloc_bitmap_iszero(node->cpuset) != 0) {
    binding.obstacle = "no CPU of the node may be used";
    return;
  }
  if (hwloc_set_cpubind(topology, node->cpuset, HWLOC_CPUBIND_PROCESS) < 0)
    binding.obstacle = refused("threads");
  else
    binding.cpus = members(node->cpuset);
}

/// Not strict: a full node must not end the job.
void bind_memory(hwloc_topology_t topology, hwloc_obj_t node, NodeBinding& binding) {
  binding.memory =
      hwloc_set_membind(topology, node->nodeset, HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET) == 0;
  if (!binding.memory && binding.obstacle.empty()) binding.obstacle = refused("memory");
}

}  // namespace

NodeBinding bind_to_node(int node) {
  NodeBinding binding;
  const HwlocTopology topology = load();
  const hwloc_obj_t object =
      topology && node >= 0
          ? hwloc_get_numanode_obj_by_os_index(topology.get(), static_cast<unsigned>(node))
          : nullptr;
  if (object == nullptr) {
    binding.obstacle = fmt::format("NUMA node {} does not exist or may not be used", node);
    return binding;
  }
  bind_threads(topology.get(), object, binding);
  bind_memory(topology.get(), object, binding);
  return binding;
}

namespace {

void require(int result, const std::string& doing) {
  if (result < 0) throw_errno("hwloc: " + doing);
}

/// A loaded topology.
class Loaded {
 public:
  explicit Loaded(const std::filesystem::path& xml) {
    require(hwloc_topology_init(&topology_), "start");
    try {
      load(xml);
    } catch (...) {
      hwloc_topology_destroy(topology_);
      throw;
    }
  }
  ~Loaded() { hwloc_topology_destroy(topology_); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  hwloc_topology_t get() const { return topology_; }
  int count(hwloc_obj_type_t type) const {
    return std::max(0, hwloc_get_nbobjs_by_type(topology_, type));
  }
  /// The objects of a type, in hwloc's order.
  std::vector<hwloc_obj_t> all(hwloc_obj_type_t type) const {
    std::vector<hwloc_obj_t> objects;
    for (hwloc_obj_t object = nullptr;
         (object = hwloc_get_next_obj_by_type(topology_, type, object)) != nullptr;)
      objects.push_back(object);
    return objects;
  }

 private:
  void load(const std::filesystem::path& xml) {
    // The display and OpenCL plug-ins are slow and print messages. The PCI plug-in needs root for
    // link rates and leaks; without it hwloc uses /sys.
    for (const char* plugin : {"gl", "opencl", "pci"})
      hwloc_topology_set_components(topology_, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugin);
    // Include resources of other cgroups.
    require(hwloc_topology_set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED),
            "set flags");
    require(hwloc_topology_set_io_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_IMPORTANT),
            "include I/O devices");
    // GPU memory may be NUMA nodes of the host (GH200, GB200), which hwloc before 2.11 omits by
    // default.
    setenv("HWLOC_KEEP_NVIDIA_GPU_NUMA_NODES", "1", 0);
    if (!xml.empty())
      require(hwloc_topology_set_xml(topology_, xml.c_str()), "read " + xml.string());
    require(hwloc_topology_load(topology_), "load the topology");
  }

  hwloc_topology_t topology_ = nullptr;
};

std::string info(hwloc_obj_t object, const char* name) {
  const char* value = hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? "" : value;
}

std::map<std::string, std::string> infos_of(hwloc_obj_t object) {
  std::map<std::string, std::string> infos;
  for (unsigned i = 0; i < object->infos_count; ++i)
    infos.emplace(object->infos[i].name, object->infos[i].value);
  return infos;
}

std::vector<NumaNode> numa_nodes(const Loaded& loaded) {
  std::vector<NumaNode> nodes;
  for (const hwloc_obj_t object : loaded.all(HWLOC_OBJ_NUMANODE))
    nodes.push_back({static_cast<int>(object->os_index),
                     {static_cast<double>(object->attr->numanode.local_memory)},
                     hwloc_bitmap_weight(object->cpuset)});
  return nodes;
}

void add_caches(const Loaded& loaded, hwloc_obj_type_t type, const std::string& name,
                std::vector<Cache>& caches) {
  std::vector<Cache> found;  // hybrid processors have caches of several sizes on one level
  for (const hwloc_obj_t object : loaded.all(type)) {
    const auto& attributes = object->attr->cache;
    if (attributes.size == 0) continue;  // unknown
    const Cache cache{name,
                      {static_cast<double>(attributes.size)},
                      {static_cast<double>(attributes.linesize)},
                      1,
                      hwloc_bitmap_weight(object->cpuset)};
    const auto same = std::find_if(found.begin(), found.end(), [&](const Cache& other) {
      return other.size == cache.size && other.shared_by == cache.shared_by;
    });
    if (same != found.end())
      ++same->count;
    else
      found.push_back(cache);
  }
  caches.insert(caches.end(), found.begin(), found.end());
}

/// The first byte of a PCI class code (PCI Code and ID Assignment Specification, part 1).
std::string pci_kind(unsigned class_id) {
  switch (class_id >> 8) {
    case 0x01:
      return class_id == 0x0108 ? "nvme" : "storage";
    case 0x02:
      return "network";
    case 0x03:
      return "display";
    case 0x05:
      return "memory";
    case 0x06:
      return "bridge";
    case 0x0b:
      return "processor";
    case 0x0c:
      return class_id == 0x0c06 ? "infiniband" : "serial bus";
    case 0x12:
      return "accelerator";
    case 0x40:
      return "co-processor";
    default:
      return fmt::format("0x{:04x}", class_id);
  }
}

std::string pci_address(hwloc_obj_t object) {
  const auto& pci = object->attr->pcidev;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<unsigned>(pci.domain), pci.bus,
                     pci.dev, pci.func);
}

std::vector<int> nearest_nodes(const Loaded& loaded, hwloc_obj_t object) {
  std::vector<int> nodes;
  const hwloc_obj_t ancestor = hwloc_get_non_io_ancestor_obj(loaded.get(), object);
  if (ancestor == nullptr || ancestor->nodeset == nullptr) return nodes;
  for (int node = hwloc_bitmap_first(ancestor->nodeset); node >= 0;
       node = hwloc_bitmap_next(ancestor->nodeset, node)) {
    const hwloc_obj_t memory =
        hwloc_get_numanode_obj_by_os_index(loaded.get(), static_cast<unsigned>(node));
    const bool of_gpu = memory != nullptr && memory->subtype != nullptr &&
                        std::string_view(memory->subtype) == "GPUMemory";
    if (!of_gpu) nodes.push_back(node);
  }
  return nodes;
}

/// As a number, as files have bridges of types that there are not.
int upstream_type(const hwloc_obj_attr_u::hwloc_bridge_attr_s& bridge) {
  int type = 0;
  static_assert(sizeof type == sizeof bridge.upstream_type);
  std::memcpy(&type, &bridge.upstream_type, sizeof type);
  return type;
}

/// Switch ports, root ports, and last the host bridge, named by its first bus.
std::vector<std::string> bridges_above(hwloc_obj_t object) {
  std::vector<std::string> bridges;
  for (hwloc_obj_t above = object->parent; above != nullptr && above->type == HWLOC_OBJ_BRIDGE;
       above = above->parent) {
    const auto& bridge = above->attr->bridge;
    const auto& bus = bridge.downstream.pci;
    if (upstream_type(bridge) == HWLOC_OBJ_BRIDGE_PCI)
      bridges.push_back(pci_address(above));
    else
      bridges.push_back(
          fmt::format("{:04x}:{:02x}", static_cast<unsigned>(bus.domain), bus.secondary_bus));
  }
  return bridges;
}

std::vector<PciDevice> pci_devices(const Loaded& loaded) {
  constexpr double kGiga = 1e9;  // hwloc gives GB/s
  std::vector<PciDevice> devices;
  for (const hwloc_obj_t object : loaded.all(HWLOC_OBJ_PCI_DEVICE)) {
    const auto& pci = object->attr->pcidev;
    PciDevice device;
    device.address = pci_address(object);
    const bool is_switch = object->subtype != nullptr && std::string(object->subtype) == "NVSwitch";
    device.kind = is_switch ? "nvswitch" : pci_kind(pci.class_id);
    device.id = fmt::format("{:04x}:{:04x}", pci.vendor_id, pci.device_id);
    device.name = info(object, "PCIDevice");
    if (pci.linkspeed > 0.0f) device.link_rate = BytesPerSecond{pci.linkspeed * kGiga};
    device.numa_nodes = nearest_nodes(loaded, object);
    device.bridges = bridges_above(object);
    devices.push_back(std::move(device));
  }
  return devices;
}

std::string os_device_kind(hwloc_obj_osdev_type_t type) {
  switch (type) {
    case HWLOC_OBJ_OSDEV_BLOCK:
      return "block";
    case HWLOC_OBJ_OSDEV_GPU:
      return "gpu";
    case HWLOC_OBJ_OSDEV_NETWORK:
      return "network";
    case HWLOC_OBJ_OSDEV_OPENFABRICS:
      return "infiniband";
    case HWLOC_OBJ_OSDEV_DMA:
      return "dma";
    case HWLOC_OBJ_OSDEV_COPROC:
      return "co-processor";
    default:
      return "other";
  }
}

std::vector<OsDevice> os_devices(const Loaded& loaded) {
  std::vector<OsDevice> devices;
  for (const hwloc_obj_t object : loaded.all(HWLOC_OBJ_OS_DEVICE)) {
    const hwloc_obj_t parent = object->parent;
    const bool on_pci = parent != nullptr && parent->type == HWLOC_OBJ_PCI_DEVICE;
    devices.push_back({object->name == nullptr ? "" : object->name,
                       os_device_kind(object->attr->osdev.type), on_pci ? pci_address(parent) : "",
                       infos_of(object)});
  }
  return devices;
}

}  // namespace

MachineTopology read_hwloc(const std::filesystem::path& xml) {
  const Loaded loaded(xml);
  const hwloc_obj_t root = hwloc_get_root_obj(loaded.get());
  MachineTopology machine;
  machine.source = "hwloc " + info(root, "hwlocVersion");
  machine.this_machine = hwloc_topology_is_thissystem(loaded.get()) == 1;
  machine.packages = loaded.count(HWLOC_OBJ_PACKAGE);
  machine.cores = loaded.count(HWLOC_OBJ_CORE);
  machine.hardware_threads = loaded.count(HWLOC_OBJ_PU);
  machine.numa_nodes = numa_nodes(loaded);
  for (const NumaNode& node : machine.numa_nodes) machine.memory += node.memory;
  add_caches(loaded, HWLOC_OBJ_L1CACHE, "l1d", machine.caches);
  add_caches(loaded, HWLOC_OBJ_L2CACHE, "l2", machine.caches);
  add_caches(loaded, HWLOC_OBJ_L3CACHE, "l3", machine.caches);
  machine.pci_devices = pci_devices(loaded);
  machine.os_devices = os_devices(loaded);
  machine.infos = infos_of(root);
  for (const hwloc_obj_t package : loaded.all(HWLOC_OBJ_PACKAGE))
    if (const std::string model = info(package, "CPUModel"); !model.empty())
      machine.infos.emplace("CPUModel", model);
  return machine;
}

bool hwloc_is_built() { return true; }

#else

bool hwloc_is_built() { return false; }

NodeBinding bind_to_node(int) { return {{}, false, "built without hwloc"}; }

MachineTopology read_hwloc(const std::filesystem::path&) {
  throw Error(ErrorKind::environment, "built without hwloc");
}

#endif

}  // namespace bench
