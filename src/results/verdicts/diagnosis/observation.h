// Measures of one training, of a data loader loop with steps, or of checkpoints: everything the
// rules may read (rules.h), with sources. Unmeasured values are absent, never zero.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"

namespace bench::diagnosis {

enum class Subject { training, loader, checkpoint };
std::string_view to_string(Subject subject);

/// T is the time of the steps: the run without evaluations and checks, with checkpoints. Shares are
/// of 1, means over ranks.
enum class Measure {
  // Parts of T, which add up to 1 (step_parts()).
  data_share,        // a step waits for its samples, or makes them itself
  transfer_share,    // copies to the device behind which nothing else goes on
  passes_share,      // forward and backward pass; of a loader its step
  exchange_share,    // between ranks, behind which nothing else goes on (exposed)
  pipeline_share,    // a stage of a pipeline waits for others
  optimizer_share,   // the update
  offload_share,     // updates wait for optimizer state on a disk
  lane_wait_share,   // threads of a rank that wait for each other
  checkpoint_share,  // stall for checkpoints
  residual_share,    // no phase claims it

  // In addition.
  work_share,        // passes_share + optimizer_share: nothing is waited for
  evaluation_share,  // evaluations and checks, of the whole run

  // Validity of the measurement.
  steps,           // steady ones
  drift,           // of the rate: between the halves of a run, or before and after it
  steal_share,     // CPU time that the hypervisor took
  throttled_s,     // the control group's quota held it back
  others_share,    // of the machine's CPU time, used by others
  host_cpu_share,  // of all processors, busy

  // Faults of hardware: growth meanwhile.
  fatal_xids,
  ecc_uncorrected,
  remap_failures,
  recovery_actions,  // GPUs whose driver recommends a reset or more
  pcie_width_share,  // lanes now over lanes there are, of the worst GPU
  host_errors,       // uncorrected errors of memory, machine checks

  // Clocks.
  hw_slowdown_share,  // of the time: thermal slow-down or power brake by hardware
  sw_thermal_share,   // of the time: thermal slow-down by the driver
  clock_share,        // SM clock over that of its peers, else over the rated one

  // Input.
  readiness,          // steps whose samples were ready
  wait_p50_s,         // a step waits for its samples
  wait_p99_s,         // the same
  step_spread,        // a step with its wait: 99th percentile over median
  cached_removes,     // part of data_share that is gone where samples come from memory
  storage_share,      // rate at which samples are read over what the storage can
  worker_cpu_share,   // of the workers' time, on a processor
  worker_idle_share,  // of the workers' time, nothing to do
  launch_gap_share,   // of T: the device idles because the host launches late

  // Transfer.
  transfer_rate,  // bytes a second
  link_share,     // the same, of the link's limit

  // Exchange.
  busbw,             // bytes a second, while something is exchanged
  busbw_share,       // the same, of what the ranks' all-reduce reaches alone
  arrival_share,     // part of exchange_share that is waiting for the rank that computes longest
  straggler_spread,  // slowest rank's passes over the mean rank's, less 1
  overlap_share,     // part of the exchange that goes on behind the passes

  // The device while passes run: activity over the run divided by passes_share, at most 1.
  sm_active,
  tensor_active,
  dram_active,
  mfu,         // of the peak that was given
  gemm_share,  // relative to GEMM throughput on the same device in this run

  // Checkpoints.
  checkpoint_stall_s,     // of one
  checkpoint_interval_s,  // from one to the next
  durable_rate            // bytes a second, of all ranks
};
inline constexpr std::size_t kMeasures = static_cast<std::size_t>(Measure::durable_rate) + 1;

/// How repeats of one case become one value.
enum class Combine { median, sum, largest, least };

struct MeasureWords {
  Measure measure = Measure::data_share;
  std::string_view name = {};   // in JSON: "data_share"
  std::string_view words = {};  // for people: "data wait"
  Unit unit = Unit::ratio;
  Combine combine = Combine::median;
  std::string_view measure_by = {};  // how to measure it if missing
};
const MeasureWords& words_of(Measure measure);
/// "42.1 %", "120", "12.5 ms".
std::string format_measure(Measure measure, double value);

/// The parts of T in step order.
const std::vector<Measure>& step_parts();

struct Measured {
  double value = 0.0;
  std::string source = {};  // job and metric, or how it follows from others
};

class Observation {
 public:
  Subject subject = Subject::training;
  std::string case_name = {};
  std::string what = {};               // "step 50 ms, from memory"; "" where the case says it all
  std::vector<std::string> jobs = {};  // source jobs
  bool on_gpu = false;

  /// Ignores values that are not finite.
  void set(Measure measure, double value, std::string source);
  /// Records why there is no value, if there is more to say than how to measure it.
  void set_missing(Measure measure, std::string why);

  /// Null if not measured.
  const Measured* find(Measure measure) const;
  /// NaN if not measured.
  double value(Measure measure) const;
  /// "" if no reason was recorded.
  std::string why_missing(Measure measure) const;
  const std::map<Measure, Measured>& all() const { return values_; }

 private:
  std::map<Measure, Measured> values_ = {};
  std::map<Measure, std::string> missing_ = {};
};

/// Derives work_share if its parts are known, and residual_share, unless set, if all other parts
/// are.
void add_sums(Observation& observation);

/// Merges one or more repeats of a case: a value needs every repeat to have it.
Observation combined(const std::vector<Observation>& repeats);

}  // namespace bench::diagnosis
