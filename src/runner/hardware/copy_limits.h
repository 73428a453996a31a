// The limits of copies: over PCIe by generation, lanes, encoding and packet headers; over
// NVLink and NVLink-C2C by the raw rate of the links.
#pragma once

#include <optional>
#include <string>

#include "core/record.h"
#include "runner/hardware/hardware_catalogue.h"

namespace bench {

/// One PCIe link, one direction. `header_bytes`: header size per packet.
struct PcieLink {
  int generation = 0;
  int lanes = 0;
  int payload_bytes = 256;
  int header_bytes = 24;
};

/// Bytes of payload a second; 0 for a generation that does not exist.
double pcie_bytes_per_second(const PcieLink& link);

/// `route`: as the probe copy names them: host_to_device, device_to_host, both, inside, peer_write,
/// peer_read.
std::optional<Limit> copy_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                const std::string& route);

/// All links of a device to the others of its node, one direction; PCIe if it has no others.
std::optional<Limit> device_link_limit(const HardwareEntry& entry, const DeviceFacts& facts);

}  // namespace bench
