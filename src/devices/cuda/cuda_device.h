// One GPU as a device: the one with this rank's number among the ranks of its host.
#pragma once

#include <memory>
#include <string>

#include "core/json.h"
#include "devices/device.h"

namespace bench {

/// {"cuda_runtime": "13.0", "cuda_driver": "13.0", "cublaslt": "13.1.0"}; null for what is absent.
Json cuda_library_versions();

/// "13.1.0".
std::string cublas_version();

namespace nvml {
class Library;
}

/// Without a GPU for this rank, a device with the reason (Device::absent). `nvml`, which may be
/// null, provides throttling, Xids and links of the GPU. `training_kernels` is called while the GPU
/// is current.
std::unique_ptr<Device> make_cuda_device(std::shared_ptr<const nvml::Library> nvml = {},
                                         MakeTrainingKernels training_kernels = {});

/// Binds this process to the NUMA node of its GPU (gpu_of_rank()), because transfers across sockets
/// are slower: {"gpu", "numa_node", "nearest_network", "reason", "cpus", "memory_bound"}. Null
/// without a GPU. Call it before the first CUDA context and any allocation, so that CUDA's threads
/// follow. Never throws.
Json place_near_gpu();

/// This rank's number on its host according to Open MPI, Slurm or torchrun; else 0.
int local_rank();

}  // namespace bench
