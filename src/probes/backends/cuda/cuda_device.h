// One GPU as a device: the one whose number is this rank's among the ranks of its host.
#pragma once

#include <memory>

#include "probes/device.h"

namespace bench {

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
