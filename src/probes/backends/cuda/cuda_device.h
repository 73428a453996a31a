// One GPU as a device: the one whose number is this rank's among the ranks of its host.
#pragma once

#include <memory>

#include "probes/device.h"

namespace bench {

/// Where there is no GPU for this rank, a device that says why (Device::absent).
std::unique_ptr<Device> make_cuda_device();

/// This rank's number on its host as OpenMPI, Slurm or torchrun tell it; 0 where none does.
int local_rank();

}  // namespace bench
