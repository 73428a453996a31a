// One product of the hardware catalogue: facts from datasheets, each with its source, and what
// others reported to have reached. hosts/hardware/*.json, checked by schemas/hardware.json.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

struct HardwarePeak {
  std::vector<std::string> dtypes;
  std::string pipe;                            // vector, tensor
  double operations_per_second = 0.0;          // dense; a multiply-add counts two
  std::optional<double> operations_per_cycle;  // of one multiprocessor
  std::optional<double> clock_hz;              // at which the peak is stated
  std::string source;
};

struct HardwareMemory {
  std::string kind;
  double bytes = 0.0;
  std::optional<double> bytes_per_second;
  std::optional<double> bus_bits, clock_hz, l2_bytes;
  std::string source;
};

/// From device to device inside a node; bandwidths of one direction.
struct HardwareLink {
  std::string kind;
  int links = 0;
  double link_bytes_per_second = 0.0;
  double bytes_per_second = 0.0;
  std::string fabric;  // switch, mesh, bridge
  std::optional<int> links_to_a_peer;
  bool reduces_in_switch = false;  // NVLS
  std::string source;
};

struct HostLink {
  std::string kind;
  std::optional<int> pcie_generation, pcie_lanes;
  std::optional<double> bytes_per_second;  // if it is not PCIe
  std::string source;
};

/// A published measurement or acceptance threshold.
struct ReportedValue {
  std::string metric;  // "collective.busbw"
  Json params = Json::object();
  double value = 0.0;  // in the metric's base unit
  std::string kind;    // measured, threshold
  std::string source;
  std::string note;
  std::string doubt;  // why the value is doubtful; empty if it is not
};

struct HardwareEntry {
  std::string name;  // "h200-sxm-141gb"
  std::string product, vendor, architecture;
  std::vector<std::string> device_names;  // a trailing * matches any suffix
  std::map<std::string, std::string> sources;
  std::optional<int> multiprocessors;
  int sparsity_factor = 1;
  std::vector<HardwarePeak> peaks;
  HardwareMemory memory;
  std::optional<HardwareLink> link;
  std::optional<HostLink> host_link;
  std::optional<double> tdp_w;
  std::vector<ReportedValue> reported;
  Json json;  // the file, for `benchctl list hardware`

  /// The fastest pipe for the type; null where the product has none or it is not known.
  const HardwarePeak* peak(const std::string& dtype) const;
};

/// From a file's content; throws Error(input) naming `origin` and the place in it.
HardwareEntry hardware_entry(const Json& json, const std::string& origin);

}  // namespace bench
