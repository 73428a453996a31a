// What a metric can reach at most on a product: from the catalogue's facts, corrected by what was
// read from the device, by the algorithm and by the path. The derivation stands in Limit::source.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/job.h"
#include "runner/hardware/hardware_catalogue.h"

namespace bench {

/// The limit of a metric, "gemm.throughput" with {"dtype": "bf16"}; nothing where a fact is
/// missing or the metric is not bounded by the device. Parameters: dtype (gemm); route (copy);
/// those of collective_path (collective); nic_bytes_per_second (network).
std::optional<Limit> hardware_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                    const std::string& metric, const Json& params);

/// Multiprocessors x operations a cycle x clock where the device differs from the datasheet. It
/// says the clock that it counts with, so that a share at the clock held can be told as well.
std::optional<Limit> gemm_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                const std::string& dtype);

/// Bus width x transfer rate where the device tells both, else the datasheet's figure.
std::optional<Limit> memory_limit(const HardwareEntry& entry, const DeviceFacts& facts);

/// Everything that is bounded on eight devices of one node.
std::vector<KnownLimit> limits_of_eight(const HardwareEntry& entry, const DeviceFacts& facts);

}  // namespace bench
