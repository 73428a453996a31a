// The products with known limits: hosts/hardware/*.json. A device is identified by its name and, if
// several share it, by its memory and its multiprocessors.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/hardware/hardware_entry.h"

namespace bench {

/// Known facts of a detected device; unknown ones are empty.
struct DeviceFacts {
  std::string name;  // "NVIDIA H200"
  std::optional<double> memory_bytes;
  std::optional<int> multiprocessors;
  std::optional<double> clock_hz;  // of the multiprocessors: the highest allowed, or one measured
  std::optional<double> memory_clock_hz;  // as the driver reports it; two transfers a cycle
  std::optional<int> memory_bus_bits;
  /// Of the slowest PCIe link between it and the processor, under load: idle links drop to
  /// generation 1, which pcie_generation_now has.
  std::optional<int> pcie_generation, pcie_lanes;
  std::optional<int> pcie_generation_now;
  std::string pcie_slowest;               // the lower end of that link, unless it is the device's
  std::optional<int> pcie_payload_bytes;  // MaxPayload
  std::optional<int> links;               // active NVLinks; 0: it has none
  std::optional<int> c2c_links;           // active NVLink-C2C links to the processor
  std::optional<double> c2c_bytes_per_second;  // of all of them, one way
};

/// An entry, or the reason why none matches.
struct HardwareMatch {
  const HardwareEntry* entry = nullptr;
  std::string reason;
};

class HardwareCatalogue {
 public:
  /// Reads every *.json in the folder. Throws Error(input) naming the file and the place in it.
  static HardwareCatalogue load(const std::filesystem::path& folder);
  /// The one that came with the program.
  static HardwareCatalogue installed();
  explicit HardwareCatalogue(std::vector<HardwareEntry> entries);

  const std::vector<HardwareEntry>& all() const { return entries_; }
  std::vector<std::string> names() const;
  /// Null for an unknown name.
  const HardwareEntry* find(const std::string& name) const;
  /// The entry of this name, else those whose names begin with it: "h100" is all of its variants.
  std::vector<const HardwareEntry*> like(const std::string& name) const;
  HardwareMatch match(const DeviceFacts& facts) const;

 private:
  std::vector<HardwareEntry> entries_;
};

}  // namespace bench
