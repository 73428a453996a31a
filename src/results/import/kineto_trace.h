// Traces of PyTorch's profiler (Kineto): JSON in the Trace Event Format, also compressed by gzip,
// of CUDA and HIP devices and of CPUs alone.
#pragma once

#include <filesystem>
#include <string_view>

#include "results/verdicts/profile/device_trace.h"

namespace bench {

/// Throws Error(environment) if the file cannot be read, Error(input) if it is no such trace.
DeviceTrace read_kineto_trace(const std::filesystem::path& path);
/// `file`: its name in the trace and in errors.
DeviceTrace kineto_trace_from(std::string_view text, const std::string& file);

}  // namespace bench
