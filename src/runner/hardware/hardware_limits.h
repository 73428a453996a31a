// The limit of a metric on a product: from the catalogue's facts, corrected for what the device
// reports, the algorithm and the path. Limit::source has the derivation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/job.h"
#include "runner/hardware/hardware_catalogue.h"

namespace bench {

/// The limit of a metric, "gemm.throughput" with {"dtype": "bf16"}; empty if a fact is
/// missing or the metric is not bounded by the device. Parameters: dtype (gemm); route (copy);
/// those of collective_path (collective); nic_bytes_per_second (network).
std::optional<Limit> hardware_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                    const std::string& metric, const Json& params);

/// Multiprocessors x operations a cycle x clock if the device differs from the datasheet. States
/// its clock, so that the share at the clock held can be reported too.
std::optional<Limit> gemm_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                const std::string& dtype);

/// Bus width x transfer rate if the device reports both, else the datasheet's figure.
std::optional<Limit> memory_limit(const HardwareEntry& entry, const DeviceFacts& facts);

/// All limits of eight devices of one node.
std::vector<KnownLimit> limits_of_eight(const HardwareEntry& entry, const DeviceFacts& facts);

}  // namespace bench
