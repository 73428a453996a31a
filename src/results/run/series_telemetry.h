// What the host and its GPUs did while a series was measured, from the facts "telemetry" of its job
// (docs/telemetry.md), the "gpus" that NVML named and the "device" that the rank drove.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/run/run_records.h"
#include "results/run/series.h"

namespace bench {

/// Minimum, mean and maximum of the readings; kNoValue without readings.
struct Spread {
  double min = kNoValue;
  double mean = kNoValue;
  double max = kNoValue;
};

/// Of one GPU. Values are in base units, temperatures in degrees Celsius; kNoValue if unknown.
struct GpuTelemetry {
  int gpu = -1;  // its index on the host
  std::string uuid;
  Spread sm_clock_hz;
  Spread power_w;
  double power_limit_w = kNoValue;  // the enforced one
  double temperature_c = kNoValue;  // the highest
  double memory_temperature_c = kNoValue;
  double energy_j = kNoValue;
  /// Why its clock was lower than it might be, as a share of the time: {"sw_power_cap": 0.98}.
  std::map<std::string, double> reasons = {};
  /// Errors that its memory and links counted during the whole job, those above zero: a phase is
  /// too short for counters that are read every ten seconds.
  std::map<std::string, double> errors = {};
};

struct SeriesTelemetry {
  /// "measure": while the samples were taken. "job": the whole job, for values without their own
  /// phase.
  std::string phase;
  double seconds = kNoValue;
  double cpu_busy_share = kNoValue;  // of all processors of the host
  double cpu_steal_share = kNoValue;
  double cpu_iowait_share = kNoValue;
  double cpu_power_w = kNoValue;  // of all packages
  std::vector<GpuTelemetry> gpus = {};
};

/// Finds the telemetry of series; borrows the records.
class TelemetryIndex {
 public:
  explicit TelemetryIndex(const RunRecords& run);
  /// Nothing if the job had no telemetry. A one-rank job shows the GPU with its device's UUID;
  /// others show the first GPUs of rank 0's host, one per rank there.
  std::optional<SeriesTelemetry> of(const Series& series) const;

 private:
  struct Entry {
    const Json* facts = nullptr;   // "telemetry"
    const Json* gpus = nullptr;    // last "gpus" of this host; null: none
    const Json* device = nullptr;  // "device"
  };
  std::vector<int> gpus_of(const Series& series, const Entry& entry) const;

  const RunRecords& run_;
  std::map<std::string, Entry> by_job_;
  std::map<std::string, int> ranks_per_host_;
};

/// As in a report's JSON; null if missing.
Json to_json(const std::optional<SeriesTelemetry>& telemetry);

}  // namespace bench
