#include "devices/cuda/availability.h"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <string_view>

namespace bench {
namespace {

/// "0000:3b:00.0"; "" if there is none. Only class 3D controller: display devices may use another
/// driver.
std::string accelerator_on_bus(const SystemFiles& files) {
  const std::string bus = "sys/bus/pci/devices";
  for (const std::string& address : files.entries(bus)) {
    const std::string device = bus + "/" + address;
    if (files.text(device + "/vendor") == "0x10de" &&
        files.text(device + "/class").value_or("").starts_with("0x0302"))
      return address;
  }
  return "";
}

/// By the variable, or by Slurm, which shows a step only the GPUs it requested.
bool hidden_from_us() {
  const auto set = [](const char* name) { return std::getenv(name) != nullptr; };
  return set("CUDA_VISIBLE_DEVICES") || (set("SLURM_STEP_ID") && !set("SLURM_STEP_GPUS"));
}

}  // namespace

CudaAnswer ask_cuda() {
  CudaAnswer answer;
  cudaRuntimeGetVersion(&answer.runtime_version);
  cudaDriverGetVersion(&answer.driver_version);
  const cudaError_t code = cudaGetDeviceCount(&answer.devices);
  if (code != cudaSuccess) {
    answer.devices = 0;
    answer.error_name = cudaGetErrorName(code);
  }
  return answer;
}

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Runtimes support older drivers of the same major version only.
std::string cuda_obstacle(const CudaAnswer& answer, int local_rank) {
  if (answer.driver_version == 0) return "no device: no NVIDIA driver on this host";
  if (answer.driver_version / 1000 < answer.runtime_version / 1000)
    return "driver " + cuda_version_text(answer.driver_version) + " < " +
           cuda_version_text(answer.runtime_version) +
           ", the CUDA version of this build: update the driver or build with an older toolkit";
  if (answer.error_name == "cudaErrorNoDevice")
    return "no device: the driver reports none; check CUDA_VISIBLE_DEVICES";
  if (!answer.error_name.empty()) return "no device: " + answer.error_name;
  if (answer.devices == 0) return "no device: the driver reports none";
  if (local_rank >= answer.devices)
    return "no device for rank " + std::to_string(local_rank) + ": this host has " +
           std::to_string(answer.devices);
  return "";
}

std::string cuda_failure(const CudaAnswer& answer, const SystemFiles& files) {
  const bool none_seen = answer.driver_version == 0 || answer.error_name == "cudaErrorNoDevice";
  if (none_seen) {
    if (hidden_from_us()) return "";
    const std::string address = accelerator_on_bus(files);
    const bool loaded = files.exists("sys/module/nvidia");
    // Without NVIDIA's libraries, a container has no driver to query.
    if (address.empty() || (answer.driver_version == 0 && loaded)) return "";
    return "the GPU " + address + " is on the PCI bus, but " +
           (loaded ? "the driver reports no GPU" : "no NVIDIA driver is loaded");
  }
  if (answer.error_name.empty() || answer.error_name == "cudaErrorInsufficientDriver") return "";
  return "CUDA cannot be initialised on this host: " + answer.error_name;
}

int gpu_of_rank(const CudaAnswer& answer, int local_rank) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string_view shown = visible == nullptr ? "" : visible;
  const bool one_shown = !shown.empty() && shown.find(',') == std::string_view::npos;
  return answer.devices == 1 && one_shown ? 0 : local_rank;
}

}  // namespace bench
