// A case for each rule of diagnosis, made to have its cause and no other.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "results/verdicts/diagnosis/diagnosis.h"

namespace bench::diagnosis {

using Given = std::initializer_list<std::pair<Measure, double>>;

/// Everything is measured, and nothing is wrong.
inline Observation healthy(bool on_gpu, Subject subject = Subject::training) {
  using M = Measure;
  Observation made;
  made.subject = subject;
  made.on_gpu = on_gpu;
  for (const auto& [measure, value] : Given{{M::data_share, 0.01},
                                            {M::transfer_share, 0.005},
                                            {M::passes_share, 0.85},
                                            {M::exchange_share, 0.02},
                                            {M::optimizer_share, 0.08},
                                            {M::offload_share, 0.0},
                                            {M::pipeline_share, 0.0},
                                            {M::lane_wait_share, 0.01},
                                            {M::checkpoint_share, 0.005},
                                            {M::residual_share, 0.02},
                                            {M::work_share, 0.93},
                                            {M::evaluation_share, 0.03},
                                            {M::steps, 1000},
                                            {M::drift, 0.01},
                                            {M::steal_share, 0.0},
                                            {M::throttled_s, 0.0},
                                            {M::others_share, 0.01},
                                            {M::host_cpu_share, 0.2},
                                            {M::fatal_xids, 0},
                                            {M::ecc_uncorrected, 0},
                                            {M::remap_failures, 0},
                                            {M::recovery_actions, 0},
                                            {M::pcie_width_share, 1.0},
                                            {M::host_errors, 0},
                                            {M::hw_slowdown_share, 0.0},
                                            {M::sw_thermal_share, 0.0},
                                            {M::clock_share, 0.99},
                                            {M::readiness, 1.0},
                                            {M::step_spread, 1.1},
                                            {M::cached_removes, 0.0},
                                            {M::worker_cpu_share, 0.5},
                                            {M::worker_idle_share, 0.2},
                                            {M::launch_gap_share, 0.01},
                                            {M::busbw_share, 0.9},
                                            {M::arrival_share, 0.1},
                                            {M::sm_active, 0.95},
                                            {M::tensor_active, 0.7},
                                            {M::dram_active, 0.5},
                                            {M::mfu, 0.4},
                                            {M::gemm_share, 0.7}})
    made.set(measure, value, "made");
  return made;
}

/// The passes take what the other parts leave.
inline Observation with(Observation made, Given given) {
  for (const auto& [measure, value] : given) made.set(measure, value, "made");
  double passes = 1.0;
  for (const Measure part : step_parts())
    if (part != Measure::passes_share) passes -= made.value(part);
  made.set(Measure::passes_share, passes, "made");
  made.set(Measure::work_share, passes + made.value(Measure::optimizer_share), "made");
  return made;
}

inline Observation without(Observation made, std::initializer_list<Measure> measures) {
  for (const Measure measure : measures) made.set_missing(measure, "");
  return made;
}

struct MadeCase {
  std::string rule;
  Observation observation;
};

inline std::vector<MadeCase> made_cases() {
  using M = Measure;
  const Observation host = healthy(false), gpu = healthy(true);
  return {{"drift", with(host, {{M::drift, 0.2}})},
          {"stolen", with(host, {{M::steal_share, 0.1}})},
          {"quota", with(host, {{M::throttled_s, 3.0}})},
          {"crowded", with(host, {{M::others_share, 0.4}})},
          {"xid", with(gpu, {{M::fatal_xids, 1}})},
          {"ecc", with(gpu, {{M::ecc_uncorrected, 2}})},
          {"remap", with(gpu, {{M::remap_failures, 1}})},
          {"recovery", with(gpu, {{M::recovery_actions, 1}})},
          {"pcie_width", with(gpu, {{M::pcie_width_share, 0.5}})},
          {"host_errors", with(host, {{M::host_errors, 1}})},
          {"hardware_slowdown", with(gpu, {{M::hw_slowdown_share, 0.3}, {M::clock_share, 0.5}})},
          {"thermal_slowdown", with(gpu, {{M::sw_thermal_share, 0.2}, {M::clock_share, 0.8}})},
          {"data_fetch", with(host, {{M::data_share, 0.3},
                                     {M::readiness, 0.1},
                                     {M::cached_removes, 0.95},
                                     {M::worker_cpu_share, 0.3}})},
          {"data_preparation",
           with(host, {{M::data_share, 0.3}, {M::readiness, 0.1}, {M::worker_cpu_share, 0.98}})},
          {"head_of_line", with(host, {{M::data_share, 0.3},
                                       {M::readiness, 0.8},
                                       {M::worker_idle_share, 0.5},
                                       {M::step_spread, 8.0}})},
          {"data_wait",
           with(host, {{M::data_share, 0.3}, {M::readiness, 0.1}, {M::worker_cpu_share, 0.7}})},
          {"noisy_host", with(gpu, {{M::host_cpu_share, 0.8}, {M::launch_gap_share, 0.2}})},
          {"transfer", with(gpu, {{M::transfer_share, 0.2}})},
          {"straggler",
           with(host, {{M::exchange_share, 0.4}, {M::arrival_share, 0.8}, {M::busbw_share, 0.3}})},
          {"network_bound", with(gpu, {{M::exchange_share, 0.4}, {M::busbw_share, 0.95}})},
          {"misconfigured_network", with(gpu, {{M::exchange_share, 0.4}, {M::busbw_share, 0.2}})},
          {"exposed_exchange", with(gpu, {{M::exchange_share, 0.4}, {M::busbw_share, 0.65}})},
          {"pipeline_bubble", with(host, {{M::pipeline_share, 0.3}})},
          {"offload_wait", with(host, {{M::offload_share, 0.3}})},
          {"uneven_threads", with(host, {{M::lane_wait_share, 0.3}})},
          {"launch_bound",
           with(gpu, {{M::sm_active, 0.3}, {M::tensor_active, 0.1}, {M::dram_active, 0.1}})},
          {"memory_bound", with(gpu, {{M::tensor_active, 0.15}, {M::dram_active, 0.85}})},
          {"non_tensor", with(gpu, {{M::tensor_active, 0.05}, {M::dram_active, 0.2}})},
          {"compute_tensor", gpu},
          {"compute_products", without(gpu, {M::sm_active, M::tensor_active, M::dram_active})},
          {"device_work",
           with(gpu, {{M::sm_active, 0.7}, {M::tensor_active, 0.4}, {M::gemm_share, 0.3}})},
          {"compute_host", host},
          {"checkpoint", with(host, {{M::checkpoint_share, 0.3}})},
          {"evaluation", with(host, {{M::evaluation_share, 0.5}})},
          {"unexplained", with(host, {{M::residual_share, 0.3}})}};
}

inline const Finding* finding_by(const Diagnosis& diagnosis, const std::string& rule) {
  for (const Finding& one : diagnosis.all)
    if (one.rule == rule) return &one;
  return nullptr;
}

}  // namespace bench::diagnosis
