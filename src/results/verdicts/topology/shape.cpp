#include "results/verdicts/topology/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/json_fields.h"
#include "core/text.h"

namespace bench {

// The devices of a shape. Devices of one kind and PCI ID form a group, "gpu/10de:2330"; models,
// links and locations are counted over the group.

namespace {

constexpr std::size_t kLongestText = 300;

/// Counts one more device under a label (a text, or {"unreadable": why}, which makes the whole path
/// unreadable).
void count_device(Shape& shape, const std::string& path, const Json& label, const std::string& who,
                  std::int64_t times = 1) {
  Trait& trait = shape[path];
  if (is_unreadable_trait(trait.value)) return;
  if (is_unreadable_trait(label)) {
    trait.value = label;
    trait.who.clear();
    return;
  }
  const std::string text =
      label.is_string() ? label.get<std::string>().substr(0, kLongestText) : excerpt(label);
  if (!trait.value.is_object()) trait.value = Json::object();
  trait.value[text] = integer_field(trait.value, text.c_str(), 0) + times;
  if (!who.empty()) trait.who[text].push_back(who);
}

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

/// Counts the device under its own text of each field.
void count_fields(Shape& shape, const std::string& group, const Json& device,
                  std::initializer_list<const char*> names, const std::string& who) {
  for (const char* name : names)
    count_device(shape, group + "/" + name, joined(field(device, name), ""), who);
}

void add_interface(Shape& shape, const std::string& group, const Json& card) {
  const std::string name = text_field(card, "name");
  const double speed = number_field(card, "speed_bits_per_s", 0.0);
  const Json rate = speed > 0.0 ? Json(fmt::format("{:g} Gbit/s", speed / 1e9)) : Json("");
  count_device(shape, group + "/speed", joined(field(card, "state"), rate), name);
  count_device(shape, group + "/driver",
               joined(field(card, "driver"), field(card, "driver_version")), name);
  count_fields(shape, group, card, {"mtu", "firmware"}, name);
}

void add_infiniband(Shape& shape, const std::string& group, const Json& device) {
  const std::string name = text_field(device, "name");
  count_device(shape, group + "/ib_firmware", joined(field(device, "firmware"), ""), name);
  count_fields(shape, group, device, {"board"}, name);
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
  count_fields(shape, group, disk, {"firmware"}, name);
  if (disk.contains("state")) count_fields(shape, group, disk, {"state"}, name);
}

void add_gpu(Shape& shape, const std::string& group, const Json& gpu) {
  count_fields(shape, group, gpu, {"model", "vbios"}, text_field(gpu, "pci_address"));
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

/// PCI devices: counts, links, NUMA nodes, switches, drivers, and facts from network, InfiniBand,
/// NVMe and the NVIDIA driver.
void add_devices(Shape& shape, const Json& facts) {
  const std::vector<Device> devices = devices_of(facts);
  for (const Device& device : devices) add_device(shape, device, devices);
  add_part(shape, facts, "network", "network", devices, {"/speed", "/mtu", "/driver", "/firmware"},
           add_interface);
  add_part(shape, facts, "infiniband", "network", devices, {}, add_infiniband);
  add_part(shape, facts, "nvme", "nvme", devices, {"/model", "/firmware"}, add_disk);
  add_part(shape, facts, "gpus", "gpu", devices, {"/model", "/vbios"}, add_gpu);
}

constexpr double kAlike = 0.01;
constexpr std::int64_t kMostCaches = 1'000'000;

Json plain(const Json& value) {
  if (value.is_string()) return value.get<std::string>().substr(0, kLongestText);
  if (value.is_number() || value.is_boolean() || is_unreadable_trait(value)) return value;
  return nullptr;
}

void put(Shape& shape, const std::string& path, const Json& value) {
  const Json kept = plain(value);
  if (!kept.is_null()) shape[path].value = kept;
}

/// Every member of a part below one path; the path itself where the whole is unreadable.
void put_all(Shape& shape, const std::string& path, const Json& part) {
  if (is_unreadable_trait(part)) return put(shape, path, part);
  if (!part.is_object()) return;
  for (const auto& [name, value] : part.items()) put(shape, path + "/" + name, value);
}

void add_settings(Shape& shape, const Json& settings) {
  const std::string mitigation = "mitigation.";
  if (is_unreadable_trait(settings)) put(shape, "mitigation", settings);
  if (is_unreadable_trait(settings) || !settings.is_object())
    return put_all(shape, "setting", settings);
  for (const auto& [name, value] : settings.items())
    put(shape,
        name.starts_with(mitigation) ? "mitigation/" + name.substr(mitigation.size())
                                     : "setting/" + name,
        value);
}

void add_software(Shape& shape, const Json& software) {
  put_all(shape, "software", software);
  put_all(shape, "module", field(software, "modules"));
}

std::string module_label(const Json& module) {
  std::string label = format(Bytes{number_field(module, "size_bytes", 0.0)}) + " " +
                      text_field(module, "type", "of unknown type");
  if (const double rate = number_field(module, "transfers_per_s", 0.0); rate > 0.0)
    label += fmt::format(" {:.0f} MT/s", rate / 1e6);
  return label;
}

void add_memory(Shape& shape, const Json& facts) {
  const Json kernel = field(facts, "memory_by_kernel_bytes");
  put(shape, "memory/total_bytes",
      kernel.is_number() ? kernel : field(facts, "memory_by_library_bytes"));
  const Json& modules = field(facts, "memory_modules");
  if (modules.is_string()) {  // "unreadable: why"
    const auto text = modules.get<std::string>();
    const auto why = text.starts_with("unreadable: ") ? text.substr(12) : text;
    put(shape, "memory/modules", {{"unreadable", why.substr(0, kLongestText)}});
  }
  for (const Json& module : array_field(facts, "memory_modules"))
    count_device(shape, "memory/modules", module_label(module), text_field(module, "slot"));
  const Json& nodes = array_field(facts, "numa");
  if (!nodes.empty()) put(shape, "numa/count", nodes.size());
  for (const Json& node : nodes) {
    const std::string path = fmt::format("numa/{}/", integer_field(node, "index", -1));
    put(shape, path + "memory_bytes", field(node, "memory_bytes"));
    put(shape, path + "hardware_threads", field(node, "hardware_threads"));
  }
}

void add_caches(Shape& shape, const Json& facts) {
  for (const Json& cache : array_field(facts, "caches"))
    count_device(shape, "cache/" + text_field(cache, "name", "unnamed"),
                 fmt::format("{} shared by {} hardware threads",
                             format(Bytes{number_field(cache, "size_bytes", 0.0)}),
                             integer_field(cache, "shared_by")),
                 "", std::clamp<std::int64_t>(integer_field(cache, "count", 1), 1, kMostCaches));
}

/// Profiles give the star a meaning.
void free_of_stars(Shape& shape) {
  for (auto trait = shape.begin(); trait != shape.end();) {
    const auto next = std::next(trait);
    if (trait->first.find('*') != std::string::npos) {
      auto node = shape.extract(trait);
      std::ranges::replace(node.key(), '*', '?');
      shape.insert(std::move(node));
    }
    trait = next;
  }
}

bool ends_with_any(const std::string& path, std::initializer_list<const char*> ends) {
  return std::ranges::any_of(ends, [&](const char* end) { return path.ends_with(end); });
}

}  // namespace

bool is_unreadable_trait(const Json& value) {
  return value.is_object() && value.size() == 1 && field(value, "unreadable").is_string();
}

bool is_counts(const Json& value) { return value.is_object() && !is_unreadable_trait(value); }

double total(const Json& value) {
  double sum = 0.0;
  if (is_counts(value))
    for (const auto& [label, count] : value.items())
      if (count.is_number()) sum += count.get<double>();
  return sum;
}

Shape shape_of(const Json& facts) {
  Shape shape;
  add_devices(shape, facts);
  put_all(shape, "machine", field(facts, "machine"));
  put_all(shape, "processor", field(facts, "processor"));
  add_software(shape, field(facts, "software"));
  add_settings(shape, field(facts, "settings"));
  put_all(shape, "kernel_option", field(facts, "kernel_options"));
  add_memory(shape, facts);
  add_caches(shape, facts);
  free_of_stars(shape);
  return shape;
}

Aspect aspect_of(const std::string& path) {
  for (const char* part : {"setting/", "mitigation/", "kernel_option/"})
    if (path.starts_with(part)) return Aspect::setting;
  if (path.starts_with("software/") || path.starts_with("module/")) return Aspect::version;
  if (ends_with_any(path, {"/firmware", "/driver", "/vbios", "/bios_version", "/bios_date",
                           "/microcode", "/ib_firmware"}))
    return Aspect::version;
  if (ends_with_any(path, {"/link", "/speed", "/port", "/state"})) return Aspect::link;
  if (ends_with_any(path, {"/numa", "/switch"})) return Aspect::place;
  return ends_with_any(path, {"/mtu"}) ? Aspect::setting : Aspect::part;
}

const Json& value_at(const Shape& shape, const std::string& path) {
  static const Json none;
  if (const auto found = shape.find(path); found != shape.end()) return found->second.value;
  for (auto end = path.rfind('/'); end != std::string::npos && end > 0;
       end = path.rfind('/', end - 1)) {
    const auto above = shape.find(path.substr(0, end));
    if (above != shape.end() && is_unreadable_trait(above->second.value))
      return above->second.value;
  }
  return none;
}

bool same_value(const std::string& path, const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number() || !path.ends_with("_bytes")) return a == b;
  return std::abs(a.get<double>() - b.get<double>()) <= kAlike * std::abs(a.get<double>());
}

std::string value_text(const std::string& path, const Json& value) {
  if (value.is_null()) return "nothing";
  if (is_unreadable_trait(value)) return "unreadable: " + text_field(value, "unreadable");
  if (value.is_number() && path.ends_with("_bytes")) return format(Bytes{value.get<double>()});
  if (value.is_string()) return value.get<std::string>();
  if (!is_counts(value)) return dump(value);
  std::vector<std::string> parts;
  for (const auto& [label, count] : value.items()) parts.push_back(dump(count) + " x " + label);
  return join(parts, "; ");
}

}  // namespace bench
