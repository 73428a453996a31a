// The energy of a run by its power logs, as the official summarizer computes it (mlcommons/logging,
// result_summarizer.py) from BENCHMARK/power/RESULT/node_*.txt and sw_*.txt, in which the keys are
// power_measurement_start and _stop, power_reading and interconnect_power_est (watts) and
// conversion_eff. The summarizer's column says kJ; watts times seconds are joules.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bench::mlperf {

struct RunEnergy {
  double joules = 0.0;  // NaN where a power log cannot be used
  std::size_t nodes = 0, switches = 0;
  /// What makes the figure unusable, or breaks a rule for measurements: each names its file.
  std::vector<std::string> problems = {};
};

/// Of the run of a result_*.txt that took so long; nothing if there is no folder `power` next to
/// it. A node's energy is the mean power of its readings, each of which holds back to the one
/// before it, times the time to train; a switch's is its estimated power times that time. Throws
/// Error(environment) for an unreadable file.
std::optional<RunEnergy> run_energy(const std::filesystem::path& result, double minutes);

}  // namespace bench::mlperf
