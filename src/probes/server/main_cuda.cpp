// bench-rank-cuda: the rank that drives a GPU; otherwise as bench-rank.
#include <malloc.h>

#include "devices/cuda/cuda_device.h"
#include "devices/nvml/gpu_host.h"
#include "probes/server/join_group.h"
#include "probes/server/rank_program.h"
#include "training/cuda/cuda_training_kernels.h"

namespace {

/// Matrices are made and verified in host memory again and again while the GPU waits: freed memory
/// is kept, because the kernel needs longer to hand out and clear new pages than to write them.
void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
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
