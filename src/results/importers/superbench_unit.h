// SuperBench writes numbers without units; its documentation of each benchmark states them.
#pragma once

#include <optional>
#include <string_view>

#include "results/importers/stated_unit.h"

namespace bench {

/// The unit of "gemm-flops/fp32_flops", "kernel-launch/event_time", "mem-bw/h2d_bw", for current
/// names and those before version 0.5 ("mem-bw/H2D_Mem_BW", "steptime_train_float32"). Source:
/// docs/user-tutorial/benchmarks of microsoft/superbenchmark. Nothing if unknown.
std::optional<StatedUnit> superbench_unit(std::string_view benchmark, std::string_view metric);

}  // namespace bench
