// The table. Where thresholds come from: docs/diagnosis.md.
#include "results/diagnosis/rules.h"

namespace bench::diagnosis {
namespace {

using M = Measure;
using enum Is;
using Kind = Ceiling::Kind;

const std::vector<Subject> kAll = {Subject::training, Subject::loader, Subject::checkpoint};
const std::vector<Subject> kFed = {Subject::training, Subject::loader};
const std::vector<Subject> kSaving = {Subject::training, Subject::checkpoint};

constexpr std::string_view kAgain =
    "run it again with the host to itself: rates of its halves must agree within 5 %";
constexpr std::string_view kDiagnose =
    "`benchctl accept` on this host; the vendor's field diagnostic (dcgmi diag -r 3)";
constexpr std::string_view kDrain = "drain the host; reset, reseat or replace the part";
constexpr std::string_view kOffloadCopies =
    "pin the batches (pin_memory), copy beside the passes (non_blocking), send bytes and not "
    "floats";

/// A condition that makes numbers worthless.
Rule invalid(std::string_view name, Bound bound, std::string_view fix) {
  return {.name = name,
          .cause = Cause::measurement_invalid,
          .of = kAll,
          .needs_steps = false,
          .when = {bound},
          .experiment = kAgain,
          .fix = fix};
}

/// A counter that must not move.
Rule broken(std::string_view name, On on, Bound bound) {
  return {.name = name,
          .cause = Cause::hardware_fault,
          .of = kFed,
          .on = on,
          .needs_steps = false,
          .when = {bound},
          .experiment = kDiagnose,
          .fix = kDrain};
}

// What of T a checkpoint, evaluations and nobody may take before each is a cause of its own.
constexpr double kMostCheckpoint = 0.01, kMostEvaluation = 0.1, kMostResidual = 0.05;

/// The device works, and nothing else takes more of T than it may.
std::vector<Bound> working(std::vector<Bound> more) {
  std::vector<Bound> all = {{M::work_share, at_least, 0.5}};
  all.insert(all.end(), more.begin(), more.end());
  all.insert(all.end(), {{M::checkpoint_share, at_most, kMostCheckpoint},
                         {M::evaluation_share, at_most, kMostEvaluation},
                         {M::residual_share, at_most, kMostResidual}});
  return all;
}

std::vector<Rule> make_rules() {
  return {
      invalid("drift", {M::drift, above, 0.05}, "find what changes meanwhile: load, heat, clocks"),
      invalid("stolen", {M::steal_share, above, 0.02}, "take a host that is not overbooked"),
      invalid("quota", {M::throttled_s, above, 0.0}, "raise the control group's CPU quota"),
      invalid("crowded", {M::others_share, above, 0.10}, "keep others off the host"),

      broken("xid", On::gpu, {M::fatal_xids, above, 0.0}),
      broken("ecc", On::gpu, {M::ecc_uncorrected, above, 0.0}),
      broken("remap", On::gpu, {M::remap_failures, above, 0.0}),
      broken("recovery", On::gpu, {M::recovery_actions, above, 0.0}),
      broken("pcie_width", On::gpu, {M::pcie_width_share, below, 1.0}),
      broken("host_errors", On::any, {M::host_errors, above, 0.0}),

      {.name = "hardware_slowdown",
       .cause = Cause::throttling,
       .on = On::gpu,
       .needs_steps = false,
       .when = {{M::hw_slowdown_share, above, 0.0}},
       .evidence = {M::clock_share},
       .ceiling = {Kind::clock, M::passes_share, M::clock_share},
       .experiment = "the probes burn and gemm on this GPU, with its clock and temperature",
       .fix = "cooling, power supply, power cables"},
      {.name = "thermal_slowdown",
       .cause = Cause::throttling,
       .on = On::gpu,
       .needs_steps = false,
       .when = {{M::sw_thermal_share, above, 0.01}, {M::clock_share, below, 0.95}},
       .ceiling = {Kind::clock, M::passes_share, M::clock_share},
       .experiment = "the probes burn and gemm on this GPU, with its clock and temperature",
       .fix = "cooling: fans, airflow, inlet temperature"},

      {.name = "data_fetch",
       .cause = Cause::data_fetch,
       .of = kFed,
       .when = {{M::data_share, above, 0.05},
                {M::readiness, below, 0.95},
                {M::cached_removes, above, 0.5}},
       .share = M::data_share,
       .evidence = {M::storage_share, M::wait_p50_s, M::wait_p99_s},
       .ceiling = {Kind::part, M::data_share, M::cached_removes},
       .experiment = "the same data set from memory (smaller, or read once before) against cold",
       .fix = "larger shards, reading ahead with more workers, a cache on the host, more stripes"},
      {.name = "data_preparation",
       .cause = Cause::data_preparation,
       .of = kFed,
       .when = {{M::data_share, above, 0.05},
                {M::readiness, below, 0.95},
                {M::worker_cpu_share, at_least, 0.9}},
       .share = M::data_share,
       .evidence = {M::cached_removes, M::wait_p50_s, M::wait_p99_s},
       .ceiling = {Kind::share, M::data_share},
       .experiment = "one worker more, or samples prepared beforehand",
       .fix = "more workers, decoding only what a crop needs, a native loader"},
      {.name = "head_of_line",
       .cause = Cause::head_of_line,
       .of = kFed,
       .when = {{M::data_share, above, 0.05},
                {M::worker_idle_share, above, 0.3},
                {M::step_spread, above, 2.0}},
       .share = M::data_share,
       .evidence = {M::readiness, M::wait_p50_s, M::wait_p99_s},
       .ceiling = {Kind::share, M::data_share},
       .experiment = "in_order off, or dispatch by samples, or twice the prefetch_factor",
       .fix = "in_order off, more prefetch_factor, samples of like cost"},
      {.name = "data_wait",
       .cause = Cause::data_wait,
       .of = kFed,
       .when = {{M::data_share, above, 0.05}},
       .share = M::data_share,
       .evidence = {M::readiness, M::cached_removes, M::worker_cpu_share, M::worker_idle_share,
                    M::step_spread},
       .ceiling = {Kind::share, M::data_share},
       .experiment = "the probe data_loader on the same data, cold and warm, with 'steps' as long",
       .fix = "what that experiment names"},

      {.name = "noisy_host",
       .cause = Cause::noisy_host,
       .on = On::gpu,
       .when = {{M::host_cpu_share, above, 0.4}, {M::launch_gap_share, above, 0.05}},
       .share = M::launch_gap_share,
       .ceiling = {Kind::share, M::launch_gap_share},
       .experiment = "workers pinned to other cores than the process that launches",
       .fix = "fewer workers, or workers kept off the cores of the launching process"},
      {.name = "transfer",
       .cause = Cause::transfer,
       .of = kFed,
       .when = {{M::transfer_share, above, 0.03}},
       .share = M::transfer_share,
       .evidence = {M::transfer_rate, M::link_share},
       .ceiling = {Kind::share, M::transfer_share},
       .experiment = "the probe copy, pinned against pageable, at the size of a batch",
       .fix = kOffloadCopies},

      {.name = "straggler",
       .cause = Cause::straggler,
       .when = {{M::exchange_share, above, 0.2}, {M::arrival_share, above, 0.5}},
       .share = M::exchange_share,
       .evidence = {M::straggler_spread, M::overlap_share},
       .ceiling = {Kind::part, M::exchange_share, M::arrival_share},
       .experiment = "ranks moved to other hosts: does the slowness stay with host or with rank?",
       .fix = "replace or repair the slow host; give ranks equal work"},
      {.name = "network_bound",
       .cause = Cause::network_bound,
       .when = {{M::exchange_share, above, 0.2}, {M::busbw_share, at_least, 0.8}},
       .share = M::exchange_share,
       .evidence = {M::busbw, M::arrival_share, M::overlap_share},
       .ceiling = {Kind::share, M::exchange_share},
       .experiment = "another bucket_bytes, overlap on and off, the probe communication_overlap",
       .fix = "overlap, larger buckets, fewer bytes (narrow types, sharding), faster links"},
      {.name = "misconfigured_network",
       .cause = Cause::misconfigured,
       .when = {{M::exchange_share, above, 0.2}, {M::busbw_share, below, 0.5}},
       .share = M::exchange_share,
       .evidence = {M::busbw, M::arrival_share, M::overlap_share},
       .ceiling = {Kind::idle, M::exchange_share, M::busbw_share},
       .experiment = "the probe collective between pairs of hosts (`benchctl accept`)",
       .fix = "cards near their GPUs, GPUDirect, rails, buckets that are not tiny"},
      {.name = "exposed_exchange",
       .cause = Cause::exposed_communication,
       .when = {{M::exchange_share, above, 0.2}},
       .share = M::exchange_share,
       .evidence = {M::busbw_share, M::arrival_share, M::straggler_spread, M::overlap_share},
       .ceiling = {Kind::share, M::exchange_share},
       .experiment = "the probe collective by the same ranks, before the training in one run",
       .fix = "what that experiment names"},
      {.name = "uneven_threads",
       .cause = Cause::uneven_threads,
       .on = On::host,
       .when = {{M::lane_wait_share, above, 0.2}},
       .share = M::lane_wait_share,
       .ceiling = {Kind::share, M::lane_wait_share},
       .experiment = "lanes 1 against more, each on a core of its own",
       .fix = "as many lanes as there are free cores, micro-batches of equal size"},

      {.name = "launch_bound",
       .cause = Cause::launch_bound,
       .on = On::gpu,
       .when = {{M::work_share, at_least, 0.5}, {M::sm_active, below, 0.5}},
       .share = M::work_share,
       .evidence = {M::tensor_active, M::dram_active, M::gemm_share},
       .ceiling = {Kind::idle, M::passes_share, M::sm_active},
       .experiment = "the same with CUDA graphs, or with twice the batch",
       .fix = "a larger batch, fused kernels, CUDA graphs"},
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
       .experiment = "`benchctl report roofline` of its kernels",
       .fix = "fused kernels, narrower types, layouts that are read once"},
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
       .experiment = "the probe gemm in its dtype and in bf16",
       .fix = "bf16 or TF32 (AMP), sizes that are multiples of 8, fused attention"},
      {.name = "compute_tensor",
       .cause = Cause::compute,
       .on = On::gpu,
       .when = working({{M::tensor_active, at_least, 0.5}}),
       .share = M::work_share,
       .evidence = {M::sm_active, M::mfu, M::gemm_share},
       .ceiling = {Kind::idle, M::passes_share, M::gemm_share},
       .experiment = "its share of the speed of measured products (gemm in the same run)",
       .fix = "nothing is wrong: faster kernels, narrower types, more devices"},
      {.name = "compute_products",
       .cause = Cause::compute,
       .on = On::gpu,
       .when = working({{M::gemm_share, at_least, 0.5}}),
       .share = M::work_share,
       .evidence = {M::sm_active, M::tensor_active, M::mfu},
       .ceiling = {Kind::idle, M::passes_share, M::gemm_share},
       .experiment = "telemetry on: tensor cores active at least half of the time",
       .fix = "nothing is wrong: faster kernels, narrower types, more devices"},
      {.name = "device_work",
       .cause = Cause::device_work,
       .on = On::gpu,
       .when = working({}),
       .share = M::work_share,
       .evidence = {M::sm_active, M::tensor_active, M::dram_active, M::gemm_share},
       .experiment = "telemetry on a Hopper GPU or later, and the probe gemm in the same run",
       .fix = "what that experiment names"},
      {.name = "compute_host",
       .cause = Cause::compute,
       .of = kFed,
       .on = On::host,
       .when = working({}),
       .share = M::work_share,
       .evidence = {M::mfu, M::gemm_share},
       .ceiling = {Kind::idle, M::passes_share, M::gemm_share},
       .experiment = "its share of the speed of measured products (gemm in the same run)",
       .fix = "nothing is wrong: faster kernels, more cores"},

      {.name = "checkpoint",
       .cause = Cause::checkpoint,
       .of = kSaving,
       .when = {{M::checkpoint_share, above, kMostCheckpoint}},
       .share = M::checkpoint_share,
       .evidence = {M::checkpoint_stall_s, M::checkpoint_interval_s, M::durable_rate},
       .ceiling = {Kind::share, M::checkpoint_share},
       .experiment = "the probe checkpoint, sync against async, at the same interval",
       .fix = "asynchronous checkpoints, direct I/O, shards on all ranks, a longer interval"},
      {.name = "evaluation",
       .cause = Cause::evaluation,
       .when = {{M::evaluation_share, above, kMostEvaluation}},
       .ceiling = {Kind::share, M::evaluation_share},
       .experiment = "half as many evaluations",
       .fix = "fewer or smaller evaluations, or evaluation beside the training"},
      {.name = "unexplained",
       .cause = Cause::unexplained,
       .when = {{M::residual_share, above, kMostResidual}},
       .share = M::residual_share,
       .ceiling = {Kind::share, M::residual_share},
       .experiment = "a trace of a few steps (perf, Nsight Systems, PyTorch's profiler)",
       .fix = "what that experiment names"},
  };
}

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = make_rules();
  return table;
}

}  // namespace bench::diagnosis
