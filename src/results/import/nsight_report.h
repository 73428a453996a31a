// Reports of NVIDIA's Nsight Systems, exported by `nsys export --type sqlite`. Tables and columns
// as in its "SQLite Export Schema Reference"; correlation numbers are those of one process.
#pragma once

#include <filesystem>
#include <vector>

#include "results/verdicts/profile/device_trace.h"

namespace bench {

/// One trace for each process that used a GPU. Throws Error(environment) if the file cannot be
/// read, Error(input) if it is no such report.
std::vector<DeviceTrace> read_nsight_report(const std::filesystem::path& path);

}  // namespace bench
