// One GPU as a device: the one whose number is this rank's among the ranks of its host.
#pragma once

#include <memory>
#include <string>

#include "core/json.h"
#include "devices/device.h"

namespace bench {

// Which CUDA libraries this program measures with.

/// {"cuda_runtime": "13.0", "cuda_driver": "13.0", "cublaslt": "13.1.0"}; null for what is not
/// there.
Json cuda_library_versions();

/// "13.1.0".
std::string cublas_version();

namespace nvml {
class Library;
}

/// Where there is no GPU for this rank, a device that says why (Device::absent). `nvml`, which may
/// be null, tells what holds the GPU's clock down, its Xids and its links. `training_kernels` is
/// called while the GPU is the current one.
std::unique_ptr<Device> make_cuda_device(std::shared_ptr<const nvml::Library> nvml = {},
                                         MakeTrainingKernels training_kernels = {});

/// This rank's number on its host as OpenMPI, Slurm or torchrun tell it; 0 where none does.
int local_rank();

}  // namespace bench
