#include "results/verdicts/diagnosis/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/json_fields.h"
#include "core/names.h"
#include "core/order_statistics.h"
#include "core/text.h"

namespace bench::diagnosis {
namespace {

// Printed name of each measure, and how to measure it.

using M = Measure;

constexpr std::string_view kPhases = "run the training probe, which times each phase";
constexpr std::string_view kTelemetry =
    "enable telemetry in the suite: \"telemetry\": {\"enabled\": true}";
constexpr std::string_view kCounters =
    "enable counters in the suite: \"telemetry\": {\"counters\": true}";
constexpr std::string_view kHostCounters =
    "enable counters in the suite, on hosts whose kernel exposes them (EDAC, machine checks)";
constexpr std::string_view kActivity =
    "enable telemetry on a Hopper or later GPU: \"telemetry\": {\"enabled\": true}";
constexpr std::string_view kLoader =
    "run the data_loader probe on the same data, with 'steps' as long as this training's";
constexpr std::string_view kTrace = "trace kernel launches (Nsight Systems, PyTorch profiler)";
constexpr std::string_view kCopy = "trace the copies, and run the copy probe in the same run";
constexpr std::string_view kCollective =
    "run the collective probe (all_reduce) on the same ranks, before the training in the same run";
constexpr std::string_view kGemm = "run the gemm probe with the same dtype first, in the same run";
constexpr std::string_view kCheckpoint =
    "train with 'checkpoint', or run the checkpoint probe with 'mtbf_s'";
constexpr std::string_view kPeak = "set the parameter peak_flops";

/// A share of which repeats give the median.
constexpr MeasureWords share(M measure, std::string_view name, std::string_view words,
                             std::string_view measure_by) {
  return {measure, name, words, Unit::ratio, Combine::median, measure_by};
}

constexpr std::array<MeasureWords, kMeasures> kWords = {{
    share(M::data_share, "data_share", "data wait", kPhases),
    share(M::transfer_share, "transfer_share", "exposed host-to-device copies", kCopy),
    share(M::passes_share, "passes_share", "passes", kPhases),
    share(M::exchange_share, "exchange_share", "exposed communication", kPhases),
    share(M::pipeline_share, "pipeline_share", "pipeline wait", kPhases),
    share(M::optimizer_share, "optimizer_share", "optimizer update", kPhases),
    share(M::offload_share, "offload_share", "wait for offloaded state", kPhases),
    share(M::lane_wait_share, "lane_wait_share", "thread imbalance wait", kPhases),
    share(M::checkpoint_share, "checkpoint_share", "checkpoint stall", kCheckpoint),
    share(M::residual_share, "residual_share", "unaccounted time", kPhases),
    share(M::work_share, "work_share", "passes and update", kPhases),
    share(M::evaluation_share, "evaluation_share", "evaluations and checks", kPhases),
    {M::steps, "steps", "steady steps", Unit::count, Combine::least, "run more steps"},
    share(M::drift, "drift", "throughput drift", "run more steps"),
    {M::steal_share, "steal_share", "CPU steal", Unit::ratio, Combine::largest, kTelemetry},
    {M::throttled_s, "throttled_s", "CPU quota throttling", Unit::second, Combine::largest,
     "run in a cgroup with a CPU quota and a readable cpu.stat"},
    share(M::others_share, "others_share", "CPU time of other processes", kTelemetry),
    share(M::host_cpu_share, "host_cpu_share", "host CPUs busy", kTelemetry),
    {M::fatal_xids, "fatal_xids", "fatal Xids", Unit::count, Combine::sum,
     "use a driver that permits reading Xid events"},
    {M::ecc_uncorrected, "ecc_uncorrected", "uncorrected ECC errors", Unit::count, Combine::sum,
     kCounters},
    {M::remap_failures, "remap_failures", "failed row remaps", Unit::count, Combine::sum,
     kCounters},
    {M::recovery_actions, "recovery_actions", "GPUs that need a reset", Unit::count,
     Combine::largest, "use driver 560 or later"},
    {M::pcie_width_share, "pcie_width_share", "PCIe width relative to maximum", Unit::ratio,
     Combine::least, "collect GPU facts (NVML)"},
    {M::host_errors, "host_errors", "uncorrected memory errors and machine checks", Unit::count,
     Combine::sum, kHostCounters},
    share(M::hw_slowdown_share, "hw_slowdown_share", "hardware slowdown time", kTelemetry),
    share(M::sw_thermal_share, "sw_thermal_share", "software thermal slowdown time", kTelemetry),
    share(M::clock_share, "clock_share", "SM clock relative to peers or maximum", kTelemetry),
    share(M::readiness, "readiness", "steps with data ready", kLoader),
    {M::wait_p50_s, "wait_p50_s", "median data wait per step", Unit::second, Combine::median,
     kLoader},
    {M::wait_p99_s, "wait_p99_s", "p99 data wait per step", Unit::second, Combine::median, kLoader},
    {M::step_spread, "step_spread", "p99-to-median step time ratio", Unit::count, Combine::median,
     kLoader},
    share(M::cached_removes, "cached_removes", "share of the data wait removed by cached samples",
          kLoader),
    share(M::storage_share, "storage_share", "share of the raw storage read rate",
          "run the data_loader probe with 'cold'"),
    share(M::worker_cpu_share, "worker_cpu_share", "loader workers on CPU", kLoader),
    share(M::worker_idle_share, "worker_idle_share", "loader workers idle", kLoader),
    share(M::launch_gap_share, "launch_gap_share", "device idle due to late launches", kTrace),
    {M::transfer_rate, "transfer_rate", "host-to-device copy rate", Unit::byte_per_second,
     Combine::median, kCopy},
    share(M::link_share, "link_share", "share of the link limit", kCopy),
    {M::busbw, "busbw", "busbw of the training's communication", Unit::byte_per_second,
     Combine::median, kPhases},
    share(M::busbw_share, "busbw_share", "share of standalone all-reduce busbw", kCollective),
    share(M::arrival_share, "arrival_share",
          "share of communication spent waiting for the slowest rank", kPhases),
    share(M::straggler_spread, "straggler_spread", "slowest rank's excess pass time over the mean",
          kPhases),
    share(M::overlap_share, "overlap_share", "communication overlapped with passes", kPhases),
    share(M::sm_active, "sm_active", "SMs active", kActivity),
    share(M::tensor_active, "tensor_active", "tensor cores active", kActivity),
    share(M::dram_active, "dram_active", "device memory active", kActivity),
    share(M::mfu, "mfu", "MFU against peak_flops", kPeak),
    share(M::gemm_share, "gemm_share", "share of measured GEMM throughput", kGemm),
    {M::checkpoint_stall_s, "checkpoint_stall_s", "stall per checkpoint", Unit::second,
     Combine::median, kCheckpoint},
    {M::checkpoint_interval_s, "checkpoint_interval_s", "checkpoint interval", Unit::second,
     Combine::median, kCheckpoint},
    {M::durable_rate, "durable_rate", "durable checkpoint write rate", Unit::byte_per_second,
     Combine::median, kCheckpoint},
}};

constexpr NameTable<Subject, 3> kSubjects{{{{Subject::training, "training"},
                                            {Subject::loader, "loader"},
                                            {Subject::checkpoint, "checkpoint"}}}};

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

std::string_view to_string(Subject subject) { return kSubjects.name(subject); }

namespace {

double combine_values(Combine combine, const std::vector<double>& values) {
  switch (combine) {
    case Combine::sum:
      return std::accumulate(values.begin(), values.end(), 0.0);
    case Combine::largest:
      return std::ranges::max(values);
    case Combine::least:
      return std::ranges::min(values);
    case Combine::median:
      break;
  }
  return median(values);
}

/// Values of the repeats that have one.
std::vector<double> values_of(const std::vector<Observation>& repeats, Measure measure) {
  std::vector<double> values;
  for (const Observation& one : repeats)
    if (const Measured* found = one.find(measure)) values.push_back(found->value);
  return values;
}

std::string repeats_source(const std::vector<Observation>& repeats, Measure measure) {
  const Measured* first = repeats.front().find(measure);
  const std::string others = std::to_string(repeats.size() - 1);
  return repeats.size() == 1 ? first->source : first->source + ", and " + others + " repeats";
}

std::string why_of(const std::vector<Observation>& repeats, Measure measure) {
  for (const Observation& one : repeats)
    if (one.find(measure) == nullptr) return one.why_missing(measure);
  return "";
}

}  // namespace

const std::vector<Measure>& step_parts() {
  static const std::vector<Measure> parts = {
      M::data_share,       M::transfer_share,  M::passes_share,  M::exchange_share,
      M::pipeline_share,   M::optimizer_share, M::offload_share, M::lane_wait_share,
      M::checkpoint_share, M::residual_share};
  return parts;
}

void Observation::set(Measure measure, double value, std::string source) {
  if (std::isfinite(value)) values_[measure] = {value, std::move(source)};
}

void Observation::set_missing(Measure measure, std::string why) {
  values_.erase(measure);
  missing_[measure] = std::move(why);
}

const Measured* Observation::find(Measure measure) const {
  const auto found = values_.find(measure);
  return found == values_.end() ? nullptr : &found->second;
}

double Observation::value(Measure measure) const {
  const Measured* found = find(measure);
  return found == nullptr ? kNoValue : found->value;
}

std::string Observation::why_missing(Measure measure) const {
  const auto found = missing_.find(measure);
  return found == missing_.end() ? "" : found->second;
}

void add_sums(Observation& observation) {
  const double work = observation.value(M::passes_share) + observation.value(M::optimizer_share);
  observation.set(M::work_share, work, "passes and update");
  if (observation.find(M::residual_share) != nullptr) return;
  double rest = 1.0;
  for (const Measure part : step_parts())
    if (part != M::residual_share) rest -= observation.value(part);
  observation.set(M::residual_share, std::max(rest, 0.0), "step time minus all other parts");
}

Observation combined(const std::vector<Observation>& repeats) {
  Observation all = repeats.front();
  for (std::size_t i = 1; i < repeats.size(); ++i)
    all.jobs.insert(all.jobs.end(), repeats[i].jobs.begin(), repeats[i].jobs.end());
  for (std::size_t i = 0; i < kMeasures; ++i) {
    const auto measure = static_cast<Measure>(i);
    const auto values = values_of(repeats, measure);
    if (values.size() < repeats.size())
      all.set_missing(measure, why_of(repeats, measure));
    else
      all.set(measure, combine_values(words_of(measure).combine, values),
              repeats_source(repeats, measure));
  }
  return all;
}

}  // namespace bench::diagnosis
