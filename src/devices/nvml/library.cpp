#include "devices/nvml/library.h"

#include <dlfcn.h>

namespace bench::nvml {

Library::Library(const std::string& path) {
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* why = dlerror();
    problem_ = "no NVIDIA driver: cannot load " + path + ": " + (why == nullptr ? "" : why);
    return;
  }
  find_calls();
  const Return code = init_();
  started_ = code == kSuccess;
  if (!started_) problem_ = "cannot initialise NVML: " + text(code);
}

Library::~Library() {
  if (started_) shutdown_();
  if (handle_ != nullptr) dlclose(handle_);
}

void Library::find_calls() {
  const auto find = [this](const char* symbol) { return dlsym(handle_, symbol); };
  const auto all = [&find](auto&... calls) { (calls.find(find), ...); };
  all(init_, shutdown_, driver_version, nvml_version, cuda_version, device_count, device_by_index);
  all(device_by_uuid, event_set_create, register_events, event_set_wait, event_set_free);
  all(name, uuid, serial, board_part_number, vbios, inforom, board_id, module_id, architecture);
  all(persistence, compute_mode, power_limit, power_limit_default, power_limit_enforced, power);
  all(pcie_generation, pcie_generation_max, pcie_generation_gpu, pcie_width, pcie_width_max, pci);
  all(compute_capability, power_limit_range, max_clock, clock, temperature, threshold, ecc, mig);
  all(memory, utilization, energy, event_reasons, nvlink_state, nvlink_version, nvlink_remote);
  all(fabric, fields, compute_processes, graphics_processes);
  all(gpm_support, gpm_allocate, gpm_free, gpm_sample, gpm_metrics);
  error_text_ = reinterpret_cast<const char* (*)(Return)>(find("nvmlErrorString"));
}

std::string Library::text(Return code) const {
  if (code == kFunctionNotFound) return "not supported by this driver's NVML";
  const char* words = error_text_ == nullptr ? nullptr : error_text_(code);
  return words == nullptr ? "NVML error " + std::to_string(code) : words;
}

}  // namespace bench::nvml
