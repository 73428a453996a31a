// The words for what the rules read, and how to come by each.
#include <fmt/format.h>

#include <array>

#include "core/text.h"
#include "results/diagnosis/observation.h"

namespace bench::diagnosis {
namespace {

using M = Measure;

constexpr std::string_view kPhases = "a run of the probe training, which times each phase";
constexpr std::string_view kTelemetry =
    "telemetry in the suite: \"telemetry\": {\"enabled\": true}";
constexpr std::string_view kCounters = "counters in the suite: \"telemetry\": {\"counters\": true}";
constexpr std::string_view kHostCounters =
    "counters in the suite, on hosts whose kernel tells them (EDAC, machine checks)";
constexpr std::string_view kActivity =
    "telemetry on a Hopper GPU or later: \"telemetry\": {\"enabled\": true}";
constexpr std::string_view kLoader =
    "the probe data_loader on the same data, with 'steps' as long as this training's";
constexpr std::string_view kTrace = "a trace of the host's launches (Nsight Systems, PyTorch's)";
constexpr std::string_view kCopy = "a trace of the copies, and the probe copy in the same run";
constexpr std::string_view kCollective =
    "the probe collective (all_reduce) by the same ranks, before the training in one run";
constexpr std::string_view kGemm = "the probe gemm with the same dtype, before it in one run";
constexpr std::string_view kCheckpoint =
    "a training with 'checkpoint', or the probe checkpoint with 'mtbf_s'";
constexpr std::string_view kPeak = "the parameter peak_flops";

constexpr auto kMedian = Combine::median;

constexpr std::array<MeasureWords, kMeasures> kWords = {{
    {M::data_share, "data_share", "data wait", Unit::ratio, kMedian, kPhases},
    {M::transfer_share, "transfer_share", "exposed copies to the device", Unit::ratio, kMedian,
     kCopy},
    {M::passes_share, "passes_share", "passes", Unit::ratio, kMedian, kPhases},
    {M::exchange_share, "exchange_share", "exposed exchange", Unit::ratio, kMedian, kPhases},
    {M::optimizer_share, "optimizer_share", "update", Unit::ratio, kMedian, kPhases},
    {M::lane_wait_share, "lane_wait_share", "threads waiting for each other", Unit::ratio, kMedian,
     kPhases},
    {M::checkpoint_share, "checkpoint_share", "checkpoint stall", Unit::ratio, kMedian,
     kCheckpoint},
    {M::residual_share, "residual_share", "time that no phase claims", Unit::ratio, kMedian,
     kPhases},
    {M::work_share, "work_share", "passes and update", Unit::ratio, kMedian, kPhases},
    {M::evaluation_share, "evaluation_share", "evaluations and checks", Unit::ratio, kMedian,
     kPhases},
    {M::steps, "steps", "steady steps", Unit::count, Combine::least, "more steps"},
    {M::drift, "drift", "drift of the rate", Unit::ratio, kMedian, "more steps"},
    {M::steal_share, "steal_share", "CPU time stolen", Unit::ratio, Combine::largest, kTelemetry},
    {M::throttled_s, "throttled_s", "held back by the CPU quota", Unit::second, Combine::largest,
     "a control group with a quota that shows its cpu.stat"},
    {M::others_share, "others_share", "CPU time of others", Unit::ratio, kMedian, kTelemetry},
    {M::host_cpu_share, "host_cpu_share", "processors busy", Unit::ratio, kMedian, kTelemetry},
    {M::fatal_xids, "fatal_xids", "fatal Xids", Unit::count, Combine::sum,
     "a driver whose events may be read"},
    {M::ecc_uncorrected, "ecc_uncorrected", "uncorrected ECC errors", Unit::count, Combine::sum,
     kCounters},
    {M::remap_failures, "remap_failures", "rows that could not be remapped", Unit::count,
     Combine::sum, kCounters},
    {M::recovery_actions, "recovery_actions", "GPUs whose driver asks for a reset", Unit::count,
     Combine::largest, "a driver since 560"},
    {M::pcie_width_share, "pcie_width_share", "PCIe lanes of those there are", Unit::ratio,
     Combine::least, "the facts of the GPUs (NVML)"},
    {M::host_errors, "host_errors", "uncorrected memory errors and machine checks", Unit::count,
     Combine::sum, kHostCounters},
    {M::hw_slowdown_share, "hw_slowdown_share", "slowed down by hardware", Unit::ratio, kMedian,
     kTelemetry},
    {M::sw_thermal_share, "sw_thermal_share", "slowed down for heat by the driver", Unit::ratio,
     kMedian, kTelemetry},
    {M::clock_share, "clock_share", "SM clock of its peers' or rated one", Unit::ratio, kMedian,
     kTelemetry},
    {M::readiness, "readiness", "steps whose samples were ready", Unit::ratio, kMedian, kLoader},
    {M::wait_p50_s, "wait_p50_s", "median wait of a step", Unit::second, kMedian, kLoader},
    {M::wait_p99_s, "wait_p99_s", "99th percentile of the wait", Unit::second, kMedian, kLoader},
    {M::step_spread, "step_spread", "99th percentile over median of a step", Unit::count, kMedian,
     kLoader},
    {M::cached_removes, "cached_removes", "part of the wait that samples from memory remove",
     Unit::ratio, kMedian, kLoader},
    {M::storage_share, "storage_share", "of what the storage reads by itself", Unit::ratio, kMedian,
     "the probe data_loader with 'cold'"},
    {M::worker_cpu_share, "worker_cpu_share", "workers on a processor", Unit::ratio, kMedian,
     kLoader},
    {M::worker_idle_share, "worker_idle_share", "workers idle", Unit::ratio, kMedian, kLoader},
    {M::launch_gap_share, "launch_gap_share", "device idle for late launches", Unit::ratio, kMedian,
     kTrace},
    {M::transfer_rate, "transfer_rate", "copies to the device", Unit::byte_per_second, kMedian,
     kCopy},
    {M::link_share, "link_share", "of the link's limit", Unit::ratio, kMedian, kCopy},
    {M::busbw, "busbw", "bus bandwidth of the exchange", Unit::byte_per_second, kMedian, kPhases},
    {M::busbw_share, "busbw_share", "of the bus bandwidth of all-reduce alone", Unit::ratio,
     kMedian, kCollective},
    {M::arrival_share, "arrival_share", "part of the exchange that waits for the slowest rank",
     Unit::ratio, kMedian, kPhases},
    {M::straggler_spread, "straggler_spread", "slowest rank's passes beyond the mean rank's",
     Unit::ratio, kMedian, kPhases},
    {M::overlap_share, "overlap_share", "exchange behind the passes", Unit::ratio, kMedian,
     kPhases},
    {M::sm_active, "sm_active", "SMs active", Unit::ratio, kMedian, kActivity},
    {M::tensor_active, "tensor_active", "tensor cores active", Unit::ratio, kMedian, kActivity},
    {M::dram_active, "dram_active", "device memory active", Unit::ratio, kMedian, kActivity},
    {M::mfu, "mfu", "MFU of the given peak", Unit::ratio, kMedian, kPeak},
    {M::gemm_share, "gemm_share", "of the speed of measured products", Unit::ratio, kMedian, kGemm},
    {M::checkpoint_stall_s, "checkpoint_stall_s", "stall of a checkpoint", Unit::second, kMedian,
     kCheckpoint},
    {M::checkpoint_interval_s, "checkpoint_interval_s", "time between checkpoints", Unit::second,
     kMedian, kCheckpoint},
    {M::durable_rate, "durable_rate", "checkpoints written durably", Unit::byte_per_second, kMedian,
     kCheckpoint},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kMeasures; ++i)
    if (kWords[i].measure != static_cast<Measure>(i)) return false;
  return true;
}
static_assert(in_order());

}  // namespace

const MeasureWords& words_of(Measure measure) { return kWords[static_cast<std::size_t>(measure)]; }

std::string format_measure(Measure measure, double value) {
  const Unit unit = words_of(measure).unit;
  if (unit == Unit::ratio) return fmt::format("{:.3g} %", 100.0 * value);
  return unit == Unit::count ? fmt::format("{:.4g}", value) : format(value, unit);
}

std::string_view to_string(Subject subject) {
  switch (subject) {
    case Subject::loader:
      return "loader";
    case Subject::checkpoint:
      return "checkpoint";
    case Subject::training:
      break;
  }
  return "training";
}

}  // namespace bench::diagnosis
