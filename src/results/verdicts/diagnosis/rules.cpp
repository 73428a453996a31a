// The rule table. Thresholds are derived in docs/diagnosis.md.
#include "results/verdicts/diagnosis/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/names.h"
#include "core/text.h"

namespace bench::diagnosis {
namespace {

// Text of causes, bounds and ceilings.

struct CauseWords {
  Cause cause;
  std::string_view name;
  std::string_view words;
};

constexpr CauseWords kCauses[] = {
    {Cause::measurement_invalid, "measurement_invalid", "invalid measurement"},
    {Cause::hardware_fault, "hardware_fault", "hardware fault"},
    {Cause::throttling, "throttling", "clock throttling"},
    {Cause::data_fetch, "data_fetch", "input: storage reads"},
    {Cause::data_preparation, "data_preparation", "input: CPU preprocessing"},
    {Cause::head_of_line, "head_of_line", "input: head-of-line blocking by slow samples"},
    {Cause::data_wait, "data_wait", "input: cause undetermined"},
    {Cause::noisy_host, "noisy_host", "late kernel launches on a busy host"},
    {Cause::transfer, "transfer", "host-to-device copies"},
    {Cause::straggler, "straggler", "communication: straggler rank"},
    {Cause::network_bound, "network_bound", "communication: network bandwidth saturated"},
    {Cause::misconfigured, "misconfigured", "communication: far below what this network can do"},
    {Cause::exposed_communication, "exposed_communication", "communication: cause undetermined"},
    {Cause::pipeline_bubble, "pipeline_bubble", "pipeline stages wait for each other"},
    {Cause::offload_wait, "offload_wait", "optimizer state on a disk"},
    {Cause::uneven_threads, "uneven_threads", "thread imbalance within a rank"},
    {Cause::launch_bound, "launch_bound", "launch-bound: small kernels"},
    {Cause::memory_bound, "memory_bound", "device memory bandwidth"},
    {Cause::non_tensor, "non_tensor", "compute without tensor cores"},
    {Cause::device_work, "device_work", "device work: cause undetermined"},
    {Cause::compute, "compute", "compute-bound"},
    {Cause::checkpoint, "checkpoint", "checkpoints"},
    {Cause::evaluation, "evaluation", "evaluations"},
    {Cause::unexplained, "unexplained", "unexplained time"}};

const CauseWords& entry(Cause cause) {
  return *std::ranges::find(kCauses, cause, &CauseWords::cause);
}

constexpr NameTable<Is, 4> kSigns{
    {{{Is::above, ">"}, {Is::at_least, ">="}, {Is::below, "<"}, {Is::at_most, "<="}}}};

std::string_view words(Measure measure) { return words_of(measure).words; }

}  // namespace

std::string_view to_string(Cause cause) { return entry(cause).name; }
std::string_view words_of(Cause cause) { return entry(cause).words; }

bool Bound::holds(double value) const {
  switch (is) {
    case Is::above:
      return value > threshold;
    case Is::at_least:
      return value >= threshold;
    case Is::below:
      return value < threshold;
    case Is::at_most:
      break;
  }
  return value <= threshold;
}

std::string Bound::text() const { return fmt::format("{} {}", words(measure), limit_text()); }

std::string Bound::limit_text() const {
  return fmt::format("{} {}", kSigns.name(is), format_measure(measure, threshold));
}

std::string Ceiling::text() const {
  switch (kind) {
    case Kind::share:
      return fmt::format("1 / (1 - {})", words(share));
    case Kind::idle:
      return fmt::format("1 / (1 - {} x (1 - {}))", words(share), words(measure));
    case Kind::part:
      return fmt::format("1 / (1 - {} x {})", words(share), words(measure));
    case Kind::clock:
      return fmt::format("1 / {}", words(measure));
    case Kind::none:
      break;
  }
  return "";
}

const Rule* find_rule(std::string_view name) {
  const auto found = std::ranges::find(rules(), name, &Rule::name);
  return found == rules().end() ? nullptr : &*found;
}

std::string condition_text(const Rule& rule) {
  std::vector<std::string> bounds;
  for (const Bound& bound : rule.when) bounds.push_back(bound.text());
  return join(bounds, " and ");
}

namespace {

using M = Measure;
using enum Is;
using Kind = Ceiling::Kind;

const std::vector<Subject> kAll = {Subject::training, Subject::loader, Subject::checkpoint};
const std::vector<Subject> kFed = {Subject::training, Subject::loader};
const std::vector<Subject> kSaving = {Subject::training, Subject::checkpoint};

constexpr std::string_view kRerun =
    "rerun on an otherwise idle host: throughput of the two halves must agree within 5 %";
constexpr std::string_view kDiagnose =
    "run `benchctl accept` on this host, and the vendor's field diagnostic (dcgmi diag -r 3)";
constexpr std::string_view kDrain = "drain the host; reset, reseat or replace the part";
constexpr std::string_view kOffloadCopies =
    "pin batches (pin_memory), overlap copies with compute (non_blocking), send bytes instead of "
    "floats";

/// A condition that makes the numbers worthless.
Rule invalid(std::string_view name, Bound bound, std::string_view fix) {
  return {.name = name,
          .cause = Cause::measurement_invalid,
          .of = kAll,
          .needs_steps = false,
          .when = {bound},
          .experiment = kRerun,
          .fix = fix};
}

/// An error counter that must stay at its value.
Rule hardware_fault(std::string_view name, On on, Bound bound) {
  return {.name = name,
          .cause = Cause::hardware_fault,
          .of = kFed,
          .on = on,
          .needs_steps = false,
          .when = {bound},
          .experiment = kDiagnose,
          .fix = kDrain};
}

// Shares of the step time T above which checkpoints, evaluations and unaccounted time are causes.
constexpr double kMostCheckpoint = 0.01, kMostEvaluation = 0.1, kMostResidual = 0.05;

/// The device is busy, and nothing else exceeds its permitted share of T.
std::vector<Bound> device_busy(std::vector<Bound> more) {
  std::vector<Bound> all = {{M::work_share, at_least, 0.5}};
  all.insert(all.end(), more.begin(), more.end());
  all.insert(all.end(), {{M::checkpoint_share, at_most, kMostCheckpoint},
                         {M::evaluation_share, at_most, kMostEvaluation},
                         {M::residual_share, at_most, kMostResidual}});
  return all;
}

std::vector<Rule> make_rules() {
  return {
      invalid("drift", {M::drift, above, 0.05},
              "find what changes during the run: load, temperature, clocks"),
      invalid("stolen", {M::steal_share, above, 0.02}, "use a host without CPU overcommit"),
      invalid("quota", {M::throttled_s, above, 0.0}, "raise the cgroup's CPU quota"),
      invalid("crowded", {M::others_share, above, 0.10}, "stop other processes on the host"),

      hardware_fault("xid", On::gpu, {M::fatal_xids, above, 0.0}),
      hardware_fault("ecc", On::gpu, {M::ecc_uncorrected, above, 0.0}),
      hardware_fault("remap", On::gpu, {M::remap_failures, above, 0.0}),
      hardware_fault("recovery", On::gpu, {M::recovery_actions, above, 0.0}),
      hardware_fault("pcie_width", On::gpu, {M::pcie_width_share, below, 1.0}),
      hardware_fault("host_errors", On::any, {M::host_errors, above, 0.0}),

      {.name = "hardware_slowdown",
       .cause = Cause::throttling,
       .on = On::gpu,
       .needs_steps = false,
       .when = {{M::hw_slowdown_share, above, 0.0}},
       .evidence = {M::clock_share},
       .ceiling = {Kind::clock, M::passes_share, M::clock_share},
       .experiment =
           "run the burn and gemm probes on this GPU with telemetry of clock and temperature",
       .fix = "check cooling, power supply and power cables"},
      {.name = "thermal_slowdown",
       .cause = Cause::throttling,
       .on = On::gpu,
       .needs_steps = false,
       .when = {{M::sw_thermal_share, above, 0.01}, {M::clock_share, below, 0.95}},
       .ceiling = {Kind::clock, M::passes_share, M::clock_share},
       .experiment =
           "run the burn and gemm probes on this GPU with telemetry of clock and temperature",
       .fix = "check cooling: fans, airflow, inlet temperature"},

      {.name = "data_fetch",
       .cause = Cause::data_fetch,
       .of = kFed,
       .when = {{M::data_share, above, 0.05},
                {M::readiness, below, 0.95},
                {M::cached_removes, above, 0.5}},
       .share = M::data_share,
       .evidence = {M::storage_share, M::wait_p50_s, M::wait_p99_s},
       .ceiling = {Kind::part, M::data_share, M::cached_removes},
       .experiment =
           "compare the data set cached in memory (smaller, or read once before) with cold reads",
       .fix =
           "use larger shards, more workers that read ahead, a host-side cache or a wider stripe"},
      {.name = "data_preparation",
       .cause = Cause::data_preparation,
       .of = kFed,
       .when = {{M::data_share, above, 0.05},
                {M::readiness, below, 0.95},
                {M::worker_cpu_share, at_least, 0.9}},
       .share = M::data_share,
       .evidence = {M::cached_removes, M::wait_p50_s, M::wait_p99_s},
       .ceiling = {Kind::share, M::data_share},
       .experiment = "add one worker, or preprocess the samples offline",
       .fix = "use more workers, decode only the cropped region, or use a native loader"},
      {.name = "head_of_line",
       .cause = Cause::head_of_line,
       .of = kFed,
       .when = {{M::data_share, above, 0.05},
                {M::worker_idle_share, above, 0.3},
                {M::step_spread, above, 2.0}},
       .share = M::data_share,
       .evidence = {M::readiness, M::wait_p50_s, M::wait_p99_s},
       .ceiling = {Kind::share, M::data_share},
       .experiment = "turn in_order off, dispatch by samples, or double prefetch_factor",
       .fix = "turn in_order off, raise prefetch_factor, or use samples of similar cost"},
      {.name = "data_wait",
       .cause = Cause::data_wait,
       .of = kFed,
       .when = {{M::data_share, above, 0.05}},
       .share = M::data_share,
       .evidence = {M::readiness, M::cached_removes, M::worker_cpu_share, M::worker_idle_share,
                    M::step_spread},
       .ceiling = {Kind::share, M::data_share},
       .experiment = "run the data_loader probe on the same data, cold and warm, with 'steps' of "
                     "this step time",
       .fix = "depends on the result of that experiment"},

      {.name = "noisy_host",
       .cause = Cause::noisy_host,
       .on = On::gpu,
       .when = {{M::host_cpu_share, above, 0.4}, {M::launch_gap_share, above, 0.05}},
       .share = M::launch_gap_share,
       .ceiling = {Kind::share, M::launch_gap_share},
       .experiment = "pin workers to other cores than the launching process",
       .fix = "use fewer workers, or keep them off the cores of the launching process"},
      {.name = "transfer",
       .cause = Cause::transfer,
       .of = kFed,
       .when = {{M::transfer_share, above, 0.03}},
       .share = M::transfer_share,
       .evidence = {M::transfer_rate, M::link_share},
       .ceiling = {Kind::share, M::transfer_share},
       .experiment = "run the copy probe at the batch size, pinned and pageable",
       .fix = kOffloadCopies},

      {.name = "straggler",
       .cause = Cause::straggler,
       .when = {{M::exchange_share, above, 0.2}, {M::arrival_share, above, 0.5}},
       .share = M::exchange_share,
       .evidence = {M::straggler_spread, M::overlap_share},
       .ceiling = {Kind::part, M::exchange_share, M::arrival_share},
       .experiment =
           "swap ranks between hosts: see whether the slowness follows the host or the rank",
       .fix = "repair or replace the slow host; balance work between ranks"},
      {.name = "network_bound",
       .cause = Cause::network_bound,
       .when = {{M::exchange_share, above, 0.2}, {M::busbw_share, at_least, 0.8}},
       .share = M::exchange_share,
       .evidence = {M::busbw, M::arrival_share, M::overlap_share},
       .ceiling = {Kind::share, M::exchange_share},
       .experiment =
           "vary bucket_bytes, turn overlap on and off, run the communication_overlap probe",
       .fix = "overlap communication, use larger buckets, fewer bytes (narrower types, sharding) "
              "or faster links"},
      {.name = "misconfigured_network",
       .cause = Cause::misconfigured,
       .when = {{M::exchange_share, above, 0.2}, {M::busbw_share, below, 0.5}},
       .share = M::exchange_share,
       .evidence = {M::busbw, M::arrival_share, M::overlap_share},
       .ceiling = {Kind::idle, M::exchange_share, M::busbw_share},
       .experiment = "run the collective probe between pairs of hosts (`benchctl accept`)",
       .fix = "check NIC-to-GPU affinity, GPUDirect RDMA, rail assignment and bucket size"},
      {.name = "exposed_exchange",
       .cause = Cause::exposed_communication,
       .when = {{M::exchange_share, above, 0.2}},
       .share = M::exchange_share,
       .evidence = {M::busbw_share, M::arrival_share, M::straggler_spread, M::overlap_share},
       .ceiling = {Kind::share, M::exchange_share},
       .experiment =
           "run the collective probe on the same ranks, before the training in the same run",
       .fix = "depends on the result of that experiment"},
      {.name = "pipeline_bubble",
       .cause = Cause::pipeline_bubble,
       .when = {{M::pipeline_share, above, 0.1}},
       .share = M::pipeline_share,
       .ceiling = {Kind::share, M::pipeline_share},
       .experiment = "compare the measured bubble with the ideal one: twice the micro-batches must "
                     "nearly halve it",
       .fix = "use smaller micro-batches, fewer stages, or stages of equal work"},
      {.name = "offload_wait",
       .cause = Cause::offload_wait,
       .on = On::host,
       .when = {{M::offload_share, above, 0.1}},
       .share = M::offload_share,
       .ceiling = {Kind::share, M::offload_share},
       .experiment = "train some steps without offload, and compare the rate of its transfers with "
                     "the storage probe's in the same folder",
       .fix =
           "use a faster disk, larger micro-batches, more ranks with zero=1, or keep the state in "
           "memory"},
      {.name = "uneven_threads",
       .cause = Cause::uneven_threads,
       .on = On::host,
       .when = {{M::lane_wait_share, above, 0.2}},
       .share = M::lane_wait_share,
       .ceiling = {Kind::share, M::lane_wait_share},
       .experiment = "compare lanes = 1 with more lanes, each on its own core",
       .fix = "use as many lanes as there are free cores, and micro-batches of equal size"},

      {.name = "launch_bound",
       .cause = Cause::launch_bound,
       .on = On::gpu,
       .when = {{M::work_share, at_least, 0.5}, {M::sm_active, below, 0.5}},
       .share = M::work_share,
       .evidence = {M::tensor_active, M::dram_active, M::gemm_share},
       .ceiling = {Kind::idle, M::passes_share, M::sm_active},
       .experiment = "rerun with CUDA graphs, or with twice the batch size",
       .fix = "use a larger batch, fused kernels or CUDA graphs"},
      {.name = "memory_bound",
       .cause = Cause::memory_bound,
       .on = On::gpu,
       .when = {{M::work_share, at_least, 0.5},
                {M::sm_active, at_least, 0.8},
                {M::tensor_active, below, 0.3},
                {M::dram_active, at_least, 0.6}},
       .share = M::work_share,
       .evidence = {M::gemm_share},
       .ceiling = {Kind::idle, M::passes_share, M::dram_active},
       .experiment = "run `benchctl report roofline` on its kernels",
       .fix = "use fused kernels, narrower types, or layouts that are read once"},
      {.name = "non_tensor",
       .cause = Cause::non_tensor,
       .on = On::gpu,
       .when = {{M::work_share, at_least, 0.5},
                {M::sm_active, at_least, 0.8},
                {M::tensor_active, below, 0.3},
                {M::dram_active, below, 0.4}},
       .share = M::work_share,
       .evidence = {M::gemm_share},
       .ceiling = {Kind::idle, M::passes_share, M::gemm_share},
       .experiment = "run the gemm probe in the training's dtype and in bf16",
       .fix = "use bf16 or TF32 (AMP), dimensions that are multiples of 8, or fused attention"},
      {.name = "compute_tensor",
       .cause = Cause::compute,
       .on = On::gpu,
       .when = device_busy({{M::tensor_active, at_least, 0.5}}),
       .share = M::work_share,
       .evidence = {M::sm_active, M::mfu, M::gemm_share},
       .ceiling = {Kind::idle, M::passes_share, M::gemm_share},
       .experiment = "compare with measured GEMM throughput (gemm in the same run)",
       .fix = "none needed; to go faster: faster kernels, narrower types, more devices"},
      {.name = "compute_products",
       .cause = Cause::compute,
       .on = On::gpu,
       .when = device_busy({{M::gemm_share, at_least, 0.5}}),
       .share = M::work_share,
       .evidence = {M::sm_active, M::tensor_active, M::mfu},
       .ceiling = {Kind::idle, M::passes_share, M::gemm_share},
       .experiment = "enable telemetry: tensor cores should be active at least half of the time",
       .fix = "none needed; to go faster: faster kernels, narrower types, more devices"},
      {.name = "device_work",
       .cause = Cause::device_work,
       .on = On::gpu,
       .when = device_busy({}),
       .share = M::work_share,
       .evidence = {M::sm_active, M::tensor_active, M::dram_active, M::gemm_share},
       .experiment =
           "enable telemetry on a Hopper or later GPU, and run the gemm probe in the same run",
       .fix = "depends on the result of that experiment"},
      {.name = "compute_host",
       .cause = Cause::compute,
       .of = kFed,
       .on = On::host,
       .when = device_busy({}),
       .share = M::work_share,
       .evidence = {M::mfu, M::gemm_share},
       .ceiling = {Kind::idle, M::passes_share, M::gemm_share},
       .experiment = "compare with measured GEMM throughput (gemm in the same run)",
       .fix = "none needed; to go faster: faster kernels, more cores"},

      {.name = "checkpoint",
       .cause = Cause::checkpoint,
       .of = kSaving,
       .when = {{M::checkpoint_share, above, kMostCheckpoint}},
       .share = M::checkpoint_share,
       .evidence = {M::checkpoint_stall_s, M::checkpoint_interval_s, M::durable_rate},
       .ceiling = {Kind::share, M::checkpoint_share},
       .experiment = "run the checkpoint probe, sync and async, at the same interval",
       .fix = "use asynchronous checkpoints, direct I/O, sharding over all ranks or a longer "
              "interval"},
      {.name = "evaluation",
       .cause = Cause::evaluation,
       .when = {{M::evaluation_share, above, kMostEvaluation}},
       .ceiling = {Kind::share, M::evaluation_share},
       .experiment = "halve the number of evaluations",
       .fix = "evaluate less often, on less data, or asynchronously"},
      {.name = "unexplained",
       .cause = Cause::unexplained,
       .when = {{M::residual_share, above, kMostResidual}},
       .share = M::residual_share,
       .ceiling = {Kind::share, M::residual_share},
       .experiment =
           "profile a few steps (--profile; on GPUs Nsight Systems or PyTorch's profiler)",
       .fix = "depends on the result of that experiment"},
  };
}

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = make_rules();
  return table;
}

}  // namespace bench::diagnosis
