// The devices of a shape. Devices of one kind and PCI ID form a group, "gpu/10de:2330"; models,
// links and locations are counted over the group.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/text.h"
#include "results/json_fields.h"
#include "results/topology/shape_parts.h"

namespace bench {
namespace {

struct Device {
  std::string address, group;
  const Json* facts = nullptr;
  const Json* extra = nullptr;  // extra facts from the kernel; null in a saved topology
  std::string root_port;        // "" for none
};

bool has_links(const std::string& kind) {
  static const std::vector<std::string> kinds = {"gpu",         "nvswitch",     "network",
                                                 "nvme",        "storage",      "infiniband",
                                                 "accelerator", "co-processor", "processor"};
  return std::ranges::find(kinds, kind) != kinds.end();
}

/// NVIDIA and AMD display chips are GPUs; those of other vendors mostly belong to the BMC.
std::string kind_of(const Json& device) {
  const std::string kind = text_field(device, "kind", "unknown");
  const std::string id = text_field(device, "id");
  return kind == "display" && (id.starts_with("10de:") || id.starts_with("1002:")) ? "gpu" : kind;
}

/// Bridges are listed from the nearest to the host bridge; the root port is the last but one.
std::string root_port(const Json& device) {
  const Json& bridges = array_field(device, "bridges");
  if (bridges.size() < 2 || !bridges[bridges.size() - 2].is_string()) return "";
  return bridges[bridges.size() - 2].get<std::string>();
}

std::vector<Device> devices_of(const Json& facts) {
  std::vector<Device> devices;
  for (const Json& one : array_field(facts, "pci_devices")) {
    const std::string kind = kind_of(one);
    if (kind == "bridge") continue;
    const std::string address = text_field(one, "address");
    const Json& extra = field(field(facts, "pci"), address.c_str());
    devices.push_back({address, kind + "/" + text_field(one, "id", "unknown"), &one,
                       extra.is_object() ? &extra : nullptr, root_port(one)});
  }
  return devices;
}

std::string kind_of(const Device& device) { return device.group.substr(0, device.group.find('/')); }

/// "gen4 x16"; "gen4 x8 of gen4 x16" if the device supports more; "15.75 GB/s" if only the rate is
/// known; "" for no link.
std::string link_label(const Device& device) {
  const Json& link = device.extra == nullptr ? Json() : field(*device.extra, "link");
  const auto generation = integer_field(link, "pcie_generation");
  const auto lanes = integer_field(link, "pcie_lanes");
  const double rate = number_field(*device.facts, "link_bytes_per_s", 0.0);
  if (generation < 1 || lanes < 1) return rate > 0.0 ? fmt::format("{:.2f} GB/s", rate / 1e9) : "";
  const auto most_generation = integer_field(link, "pcie_generation_max", generation);
  const auto most_lanes = integer_field(link, "pcie_lanes_max", lanes);
  std::string label = fmt::format("gen{} x{}", generation, lanes);
  if (most_generation > generation || most_lanes > lanes)
    label += fmt::format(" of gen{} x{}", most_generation, most_lanes);
  return label;
}

std::string numa_label(const Device& device) {
  const Json& nodes = array_field(*device.facts, "numa_nodes");
  return nodes.size() == 1 ? "node " + dump(nodes[0]) : "not known";
}

/// Other devices below the same root port: "with 2 nvme/144d:a80a".
std::string switch_label(const Device& device, const std::vector<Device>& all) {
  std::map<std::string, int> others;
  for (const Device& other : all)
    if (!device.root_port.empty() && other.root_port == device.root_port &&
        other.address != device.address && has_links(kind_of(other)))
      ++others[other.group];
  std::vector<std::string> words;
  for (const auto& [group, count] : others) words.push_back(fmt::format("{} {}", count, group));
  return words.empty() ? "alone" : "with " + join(words, ", ");
}

void add_device(Shape& shape, const Device& device, const std::vector<Device>& all) {
  Json& count = shape[device.group + "/count"].value;
  count = count.is_number() ? count.get<int>() + 1 : 1;
  if (!has_links(kind_of(device))) return;
  if (const std::string link = link_label(device); !link.empty())
    count_device(shape, device.group + "/link", link, device.address);
  count_device(shape, device.group + "/numa", numa_label(device), device.address);
  if (!array_field(*device.facts, "bridges").empty())
    count_device(shape, device.group + "/switch", switch_label(device, all), device.address);
}

/// The group of a PCI address; "network/other" for a card without a PCI device.
std::string group_at(const std::vector<Device>& devices, const std::string& address,
                     const std::string& kind) {
  const auto found = std::ranges::find(devices, address, &Device::address);
  return found == devices.end() ? kind + "/other" : found->group;
}

/// Unreadable, or both joined by a space.
Json joined(const Json& a, const Json& b) {
  if (field(a, "unreadable").is_string()) return a;
  if (field(b, "unreadable").is_string()) return b;
  std::string text = a.is_string() ? a.get<std::string>() : "unknown";
  if (text.empty()) text = "none";
  const std::string second = b.is_string() ? b.get<std::string>() : "";
  return text + (second.empty() ? "" : " " + second);
}

void add_interface(Shape& shape, const std::string& group, const Json& card) {
  const std::string name = text_field(card, "name");
  const double speed = number_field(card, "speed_bits_per_s", 0.0);
  const Json rate = speed > 0.0 ? Json(fmt::format("{:g} Gbit/s", speed / 1e9)) : Json("");
  count_device(shape, group + "/speed", joined(field(card, "state"), rate), name);
  count_device(shape, group + "/mtu", joined(field(card, "mtu"), ""), name);
  count_device(shape, group + "/driver",
               joined(field(card, "driver"), field(card, "driver_version")), name);
  count_device(shape, group + "/firmware", joined(field(card, "firmware"), ""), name);
}

void add_infiniband(Shape& shape, const std::string& group, const Json& device) {
  const std::string name = text_field(device, "name");
  count_device(shape, group + "/ib_firmware", joined(field(device, "firmware"), ""), name);
  count_device(shape, group + "/board", joined(field(device, "board"), ""), name);
  for (const Json& port : array_field(device, "ports"))
    count_device(
        shape, group + "/port",
        joined(joined(field(port, "state"), field(port, "rate")), field(port, "link_layer")),
        name + " port " + text_field(port, "port"));
}

void add_disk(Shape& shape, const std::string& group, const Json& disk) {
  const std::string name = text_field(disk, "name");
  const double bytes = number_field(disk, "size_bytes", 0.0);
  const Json size = bytes > 0.0 ? Json(fmt::format("{:.4g} TB", bytes / 1e12)) : Json("");
  count_device(shape, group + "/model", joined(field(disk, "model"), size), name);
  count_device(shape, group + "/firmware", joined(field(disk, "firmware"), ""), name);
  if (disk.contains("state"))
    count_device(shape, group + "/state", joined(field(disk, "state"), ""), name);
}

void add_gpu(Shape& shape, const std::string& group, const Json& gpu) {
  const std::string address = text_field(gpu, "pci_address");
  count_device(shape, group + "/model", joined(field(gpu, "model"), ""), address);
  count_device(shape, group + "/vbios", joined(field(gpu, "vbios"), ""), address);
}

using Add = void (*)(Shape&, const std::string&, const Json&);

/// Adds every object of a part; if the part is unreadable, so are its paths.
void add_part(Shape& shape, const Json& facts, const char* part, const std::string& kind,
              const std::vector<Device>& devices, const std::vector<std::string>& paths, Add add) {
  const Json& list = field(facts, part);
  if (is_unreadable_trait(list))
    for (const Device& device : devices)
      if (kind_of(device) == kind)
        for (const std::string& path : paths)
          count_device(shape, device.group + path, list, device.address);
  for (const Json& one : array_field(facts, part))
    if (one.is_object()) add(shape, group_at(devices, text_field(one, "pci_address"), kind), one);
}

}  // namespace

void add_devices(Shape& shape, const Json& facts) {
  const std::vector<Device> devices = devices_of(facts);
  for (const Device& device : devices) add_device(shape, device, devices);
  add_part(shape, facts, "network", "network", devices, {"/speed", "/mtu", "/driver", "/firmware"},
           add_interface);
  add_part(shape, facts, "infiniband", "network", devices, {}, add_infiniband);
  add_part(shape, facts, "nvme", "nvme", devices, {"/model", "/firmware"}, add_disk);
  add_part(shape, facts, "gpus", "gpu", devices, {"/model", "/vbios"}, add_gpu);
}

}  // namespace bench
