// What the PCIe tree does to traffic between two devices. Access control
// (ACS) with redirection sends it up to the processor and back; so does an IOMMU that translates.
#include <algorithm>
#include <array>
#include <sstream>

#include "probes/facts/settings.h"
#include "probes/facts/unreadable.h"

namespace bench {
namespace {

const std::string kDevices = "sys/bus/pci/devices";
const std::string kGroups = "sys/kernel/iommu_groups";
constexpr std::size_t kMostNamed = 32;

// Configuration space (PCI Express Base 5.0, 7.6 and 7.7.11).
constexpr std::size_t kExtended = 0x100;  // the first extended capability
constexpr std::size_t kSpace = 4096;
constexpr unsigned kAcsCapability = 0x000d;
constexpr std::size_t kAcsControl = 6;       // from the capability's beginning
constexpr unsigned kRedirect = 0x04 | 0x08;  // requests, completions of peers go to the root

unsigned word_at(const std::string& space, std::size_t at) {
  return static_cast<unsigned char>(space[at]) |
         static_cast<unsigned>(static_cast<unsigned char>(space[at + 1])) << 8;
}

/// The ACS control word; 0 where the bridge has no ACS. The space is larger than kExtended.
unsigned acs_control(const std::string& space) {
  std::size_t at = kExtended;
  // A list that runs in circles ends when it is longer than the space could hold.
  for (std::size_t steps = 0; steps < kSpace / 8 && at >= kExtended; ++steps) {
    if (at + 8 > space.size()) return 0;
    if (word_at(space, at) == kAcsCapability) return word_at(space, at + kAcsControl);
    at = word_at(space, at + 2) >> 4;
  }
  return 0;
}

Json acs(const SystemFiles& files) {
  const auto devices = files.entries(kDevices);
  if (devices.empty()) return unreadable("no " + kDevices);
  std::size_t bridges = 0, readable = 0;
  Json redirecting = Json::array();
  for (const std::string& device : devices) {
    const std::string folder = kDevices + "/" + device + "/";
    if (!files.text(folder + "class", 32).value_or("").starts_with("0x0604")) continue;
    ++bridges;
    const auto space = files.bytes(folder + "config", kSpace);
    if (!space || space->size() <= kExtended) continue;  // without rights: 64 bytes
    ++readable;
    if ((acs_control(*space) & kRedirect) != 0 && redirecting.size() < kMostNamed)
      redirecting.push_back(device);
  }
  if (bridges > 0 && readable == 0)
    return unreadable("the PCI bridge configuration is readable by root only");
  return {{"bridges", bridges}, {"readable", readable}, {"redirecting", redirecting}};
}

Json iommu(const SystemFiles& files) {
  if (!files.exists(kGroups)) return unreadable("no " + kGroups);
  const auto groups = files.entries(kGroups);
  Json facts = {{"groups", groups.size()}};
  Json types = Json::object();  // "DMA", "DMA-FQ": translated; "identity": passed through
  for (const std::string& group : groups) {
    const std::string type = files.text(kGroups + "/" + group + "/type", 32).value_or("unreadable");
    types[type] = types.value(type, 0) + 1;
  }
  facts["types"] = types;
  return facts;
}

/// What the kernel was told at boot that bears on this: "iommu=pt", "pci=disable_acs_redir=...".
Json kernel_options(const SystemFiles& files) {
  const auto line = files.text("proc/cmdline");
  if (!line) return unreadable("no proc/cmdline");
  Json options = Json::array();
  std::istringstream words(*line);
  std::string word;
  while (words >> word && options.size() < kMostNamed)
    if (word.find("iommu") != std::string::npos || word.starts_with("pci")) options.push_back(word);
  return options;
}

}  // namespace

void add_bridge_facts(const SystemFiles& files, Json& facts) {
  facts["acs"] = acs(files);
  facts["iommu"] = iommu(files);
  facts["kernel_options"] = kernel_options(files);
}

}  // namespace bench
