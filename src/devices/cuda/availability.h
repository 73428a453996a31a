// Whether there is a GPU that this program can drive, and if not, why: the reason its jobs are
// skipped with.
#pragma once

#include <string>

#include "core/system_files.h"

namespace bench {

/// What the CUDA runtime answers when it is asked for the first time.
struct CudaAnswer {
  int runtime_version = 0;  // this program's: 13000 is 13.0
  int driver_version = 0;   // the newest the driver supports; 0 where there is no driver
  int devices = 0;
  std::string error_name;  // of counting the devices: "cudaErrorNoDevice"; "" for success
};

/// Asks. Never throws.
CudaAnswer ask_cuda();

/// Why rank `local_rank` of this host has no GPU to drive; "" when it has one.
std::string cuda_obstacle(const CudaAnswer& answer, int local_rank);

/// Why GPUs that this host has cannot be used, so that it is no host without any: CUDA does not
/// start on them, or the driver sees none although an accelerator of NVIDIA's is on the PCI bus and
/// neither $CUDA_VISIBLE_DEVICES, a step of Slurm's without GPUs nor a container hides it. "" where
/// that is not so.
std::string cuda_failure(const CudaAnswer& answer, const SystemFiles& files);

/// Which of the GPUs that it sees this rank drives: the one of its number on its host, or the only
/// one where $CUDA_VISIBLE_DEVICES names one alone, as Slurm does for --gpus-per-task.
int gpu_of_rank(const CudaAnswer& answer, int local_rank);

/// "13.0" of 13000.
std::string cuda_version_text(int version);

}  // namespace bench
