// Whether this program can use a GPU, and if not, why: the reason for skipping its jobs.
#pragma once

#include <string>

#include "core/system_files.h"

namespace bench {

/// First answers of the CUDA runtime.
struct CudaAnswer {
  int runtime_version = 0;  // this program's: 13000 is 13.0
  int driver_version = 0;   // the newest supported by the driver; 0 without a driver
  int devices = 0;
  std::string error_name;  // of counting devices: "cudaErrorNoDevice"; "" on success
};

/// Never throws.
CudaAnswer ask_cuda();

/// Why rank `local_rank` of this host has no GPU; "" if it has one.
std::string cuda_obstacle(const CudaAnswer& answer, int local_rank);

/// Why existing GPUs of this host cannot be used: CUDA initialisation fails, or the driver reports
/// none although an NVIDIA accelerator is on the PCI bus and not hidden by $CUDA_VISIBLE_DEVICES, a
/// Slurm step without GPUs or a container. Else "".
std::string cuda_failure(const CudaAnswer& answer, const SystemFiles& files);

/// The visible GPU for this rank: its number on the host, or 0 if $CUDA_VISIBLE_DEVICES names
/// exactly one, as Slurm does for --gpus-per-task.
int gpu_of_rank(const CudaAnswer& answer, int local_rank);

/// "13.0" of 13000.
std::string cuda_version_text(int version);

}  // namespace bench
