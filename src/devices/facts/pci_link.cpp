#include "devices/facts/pci_link.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "core/text.h"

namespace bench {

namespace {

/// "0000:3b:00.0"; a domain may have more than four digits.
bool is_pci_address(std::string_view name) {
  const auto size = name.size();
  return size >= 12 && name[size - 2] == '.' && name[size - 5] == ':' && name[size - 8] == ':';
}

constexpr int kMostLanes = 32;
constexpr const char* kQemu = "0x1b36";  // vendor of QEMU's root ports

struct Port {
  std::string address;
  std::optional<int> generation, generation_max, lanes, lanes_max;
  bool made_up = false;  // QEMU's, without a real link
};

/// "16.0 GT/s PCIe" is generation 4; nothing for "Unknown".
std::optional<int> generation(const std::optional<std::string>& text) {
  constexpr std::array<double, 6> kRates = {2.5, 5.0, 8.0, 16.0, 32.0, 64.0};
  if (!text) return {};
  double rate = 0.0;
  std::from_chars(text->data(), text->data() + text->size(), rate);
  const auto found = std::find(kRates.begin(), kRates.end(), rate);
  if (found == kRates.end()) return {};
  return static_cast<int>(found - kRates.begin()) + 1;
}

/// Ports without a link report 0, removed ones 63 or 255.
std::optional<int> lanes(const std::optional<std::int64_t>& number) {
  if (!number || *number < 1 || *number > kMostLanes) return {};
  return static_cast<int>(*number);
}

Port read_port(const SystemFiles& files, const std::string& folder, const std::string& address) {
  return {address,
          generation(files.text(folder + "/current_link_speed", 64)),
          generation(files.text(folder + "/max_link_speed", 64)),
          lanes(files.number(folder + "/current_link_width")),
          lanes(files.number(folder + "/max_link_width")),
          files.text(folder + "/vendor", 16) == kQemu};
}

/// From the root port down to the device.
std::vector<Port> path_of(const SystemFiles& files, const std::string& address) {
  std::vector<Port> path;
  std::string folder;
  const std::string whole = files.resolved("sys/bus/pci/devices/" + address);
  for (const std::string_view name : words_of(whole, "/")) {
    folder.append("/").append(name);
    if (is_pci_address(name)) path.push_back(read_port(files, folder.substr(1), std::string(name)));
  }
  return path;
}

std::optional<int> lesser(const std::optional<int>& a, const std::optional<int>& b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

bool more(const std::optional<int>& a, const std::optional<int>& b) { return a && b && *a > *b; }

struct Link {
  std::string lower_end;
  std::optional<int> generation, lanes;
  /// Proportional to bytes per second; the encoding changes between generations 2 and 3.
  double rate() const {
    constexpr std::array<double, 6> kRates = {2.0, 4.0, 7.877, 15.754, 31.508, 59.0};
    if (!generation || !lanes) return 0.0;
    return kRates[static_cast<std::size_t>(*generation - 1)] * *lanes;
  }
};

Link link_between(const Port* upper, const Port& lower) {
  const bool believed = upper != nullptr && !upper->made_up &&
                        !more(lower.lanes, upper->lanes_max) &&
                        !more(lower.generation, upper->generation_max);
  const std::optional<int> none;
  return {lower.address, lesser(lower.generation_max, believed ? upper->generation_max : none),
          lower.lanes ? lower.lanes : lesser(lower.lanes_max, believed ? upper->lanes_max : none)};
}

/// A port shares a link with what is below it; inside a switch there is none.
std::vector<Link> links_of(const std::vector<Port>& path) {
  std::vector<Link> links;
  for (std::size_t lower = path.size(); lower > 0; lower -= std::min<std::size_t>(lower, 2))
    links.push_back(link_between(lower >= 2 ? &path[lower - 2] : nullptr, path[lower - 1]));
  return links;
}

void put(Json& facts, const char* key, const std::optional<int>& value) {
  if (value) facts[key] = *value;
}

}  // namespace

std::string pci_address_of(const SystemFiles& files, const std::string& path) {
  std::string address;
  const std::string whole = files.resolved(path);
  for (const std::string_view name : words_of(whole, "/"))
    if (is_pci_address(name)) address = name;
  return address;
}

Json read_pci_link(const SystemFiles& files, std::string address) {
  address = to_lower(address);
  Json facts = Json::object();
  const std::vector<Port> path = path_of(files, address);
  if (path.empty()) return facts;
  const Link* slowest = nullptr;
  const std::vector<Link> links = links_of(path);
  for (const Link& link : links)
    if (link.rate() > 0.0 && (slowest == nullptr || link.rate() < slowest->rate())) slowest = &link;
  const Port& device = path.back();
  put(facts, "pcie_generation_now", device.generation);
  put(facts, "pcie_generation_max", device.generation_max);
  put(facts, "pcie_lanes_max", device.lanes_max);
  if (slowest == nullptr) return facts;
  facts["pcie_generation"] = *slowest->generation;
  facts["pcie_lanes"] = *slowest->lanes;
  if (slowest != &links.front()) facts["pcie_slowest"] = slowest->lower_end;
  return facts;
}

}  // namespace bench
