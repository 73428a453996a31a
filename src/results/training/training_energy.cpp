#include "results/training/training_energy.h"

#include <fmt/format.h>

#include <cmath>

namespace bench {
namespace {

std::optional<SeriesTelemetry> telemetry_of(const std::vector<Series>& all,
                                            const TelemetryIndex& index) {
  for (const Series& series : all)
    if (auto found = index.of(series)) return found;
  return {};
}

double gpu_joules(const SeriesTelemetry& telemetry) {
  double sum = telemetry.gpus.empty() ? kNoValue : 0.0;
  for (const GpuTelemetry& gpu : telemetry.gpus) sum += gpu.energy_j;
  return sum;
}

}  // namespace

void add_energy(TrainingRun& run, const std::vector<Series>& series,
                const TelemetryIndex& telemetry) {
  const auto found = telemetry_of(series, telemetry);
  if (!found) {
    run.energy_of = "the run had no telemetry";
    return;
  }
  if (run.setup.on.size() > 1) {
    run.energy_of = "telemetry covers only the first host";
    return;
  }
  const double cpu = found->cpu_power_w * found->seconds;
  const double gpus = gpu_joules(*found);
  if (!std::isfinite(cpu) && !std::isfinite(gpus)) {
    run.energy_of = "no readable power counter";
    return;
  }
  run.energy_j = (std::isfinite(cpu) ? cpu : 0.0) + (std::isfinite(gpus) ? gpus : 0.0);
  const std::string what = !std::isfinite(gpus)  ? "CPU packages"
                           : !std::isfinite(cpu) ? "GPUs"
                                                 : "CPU packages and GPUs";
  run.energy_of = fmt::format("{}, over the {} s of the {}", what, std::round(found->seconds),
                              found->phase == "job" ? "whole job" : "phase " + found->phase);
}

}  // namespace bench
