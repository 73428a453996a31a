#include "devices/topology.h"

namespace bench {
namespace {

Json describe(const PciDevice& device) {
  return {{"address", device.address},
          {"kind", device.kind},
          {"id", device.id},
          {"name", device.name},
          {"link_bytes_per_s", device.link_rate ? Json(device.link_rate->value) : Json(nullptr)},
          {"numa_nodes", device.numa_nodes},
          {"bridges", device.bridges}};
}

Json describe(const OsDevice& device) {
  return {{"name", device.name}, {"kind", device.kind}, {"pci_address", device.pci_address}};
}

Json describe(const NumaNode& node) {
  return {{"index", node.index},
          {"memory_bytes", node.memory.value},
          {"hardware_threads", node.hardware_threads}};
}

Json describe(const Cache& cache) {
  return {{"name", cache.name},
          {"size_bytes", cache.size.value},
          {"line_bytes", cache.line.value},
          {"count", cache.count},
          {"shared_by", cache.shared_by}};
}

Json describe(const MemoryModule& module) {
  return {{"slot", module.slot},
          {"channel", module.channel},
          {"type", module.type},
          {"size_bytes", module.size.value},
          {"transfers_per_s", module.transfers_per_second},
          {"width_bytes", module.width.value}};
}

template <class Part>
Json describe(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& part : parts) list.push_back(describe(part));
  return list;
}

Json or_null(std::optional<Bytes> size) { return size ? Json(size->value) : Json(nullptr); }

}  // namespace

Json topology_facts(const MachineTopology& machine, const KernelTopology& kernel,
                    const MemoryModules& modules, const Json& details) {
  Json facts = {{"topology_source", machine.source},
                {"memory_by_library_bytes", machine.memory.value},
                {"memory_by_kernel_bytes", or_null(kernel.memory)},
                {"memory_of_kernel_nodes_bytes", or_null(kernel.memory_of_nodes)},
                {"numa", describe(machine.numa_nodes)},
                {"caches", describe(machine.caches)},
                {"pci_devices", describe(machine.pci_devices)},
                {"os_devices", describe(machine.os_devices)},
                {"memory_modules", describe(modules.populated)}};
  if (!modules.unreadable.empty()) facts["memory_modules"] = "unreadable: " + modules.unreadable;
  facts.update(details);
  return facts;
}

}  // namespace bench
