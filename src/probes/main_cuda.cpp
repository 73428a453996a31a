// bench-rank-cuda: the rank that drives a GPU; otherwise as bench-rank.
#include "probes/backends/cuda/cuda_device.h"
#include "probes/backends/cuda/cuda_libraries.h"
#include "probes/backends/cuda/cuda_place.h"
#include "probes/backends/cuda/nvml/gpu_host.h"
#include "probes/rank_program.h"

int main(int argc, char** argv) {
  bench::GpuHost host;
  return bench::run_rank_program(
      {"bench-rank-cuda", bench::join_group,
       [&host] { return bench::make_cuda_device(host.nvml()); }, bench::cuda_library_versions,
       bench::place_near_gpu, [&host](const std::set<int>& own) { return host.facts(own); },
       [&host] { return host.counters(); }},
      argc, argv);
}
