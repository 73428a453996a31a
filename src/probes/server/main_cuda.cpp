// bench-rank-cuda: the rank that drives a GPU; otherwise as bench-rank.
#include "devices/cuda/cuda_device.h"
#include "devices/nvml/gpu_host.h"
#include "probes/server/join_group.h"
#include "probes/server/rank_program.h"
#include "training/cuda/cuda_training_kernels.h"

int main(int argc, char** argv) {
  bench::GpuHost host;
  return bench::run_rank_program(
      {.name = "bench-rank-cuda",
       .join_group = bench::join_group,
       .make_device =
           [&host] {
             return bench::make_cuda_device(host.nvml(), bench::make_cuda_training_kernels);
           },
       .libraries = bench::cuda_library_versions,
       .place = bench::place_near_gpu,
       .device_facts = [&host](const std::set<int>& own) { return host.facts(own); },
       .counters = [&host] { return host.counters(); }},
      argc, argv);
}
