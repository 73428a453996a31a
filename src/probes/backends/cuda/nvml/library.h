// The driver's libnvidia-ml, opened at run time. Every call is optional: one that this driver lacks
// answers kFunctionNotFound, so that its fact becomes unreadable and the others stay. Opening it
// and each call may block for ever where the driver is sick: see guarded.h.
#pragma once

#include <string>

#include "probes/backends/cuda/nvml/declarations.h"

namespace bench::nvml {

inline constexpr const char* kDefaultLibrary = "libnvidia-ml.so.1";

template <class... Arguments>
class Call {
 public:
  /// `older` is asked for where the first name is not there.
  explicit Call(const char* name, const char* older = nullptr) : name_(name), older_(older) {}
  Return operator()(Arguments... arguments) const {
    return function_ == nullptr ? kFunctionNotFound : function_(arguments...);
  }
  template <class Find>
  void find(Find find) {
    void* symbol = find(name_);
    if (symbol == nullptr && older_ != nullptr) symbol = find(older_);
    function_ = reinterpret_cast<Return (*)(Arguments...)>(symbol);
  }

 private:
  const char* name_;
  const char* older_;
  Return (*function_)(Arguments...) = nullptr;
};

using TextCall = Call<Device, char*, unsigned>;
using NumberCall = Call<Device, unsigned*>;
using ProcessesCall = Call<Device, unsigned*, ProcessInfo*>;

class Library {
 public:
  explicit Library(const std::string& path = kDefaultLibrary);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Why it cannot be used; empty when it can.
  const std::string& problem() const { return problem_; }
  /// The library's own words for a code; "error 42" where it has none.
  std::string text(Return code) const;

  Call<char*, unsigned> driver_version{"nvmlSystemGetDriverVersion"};
  Call<char*, unsigned> nvml_version{"nvmlSystemGetNVMLVersion"};
  Call<int*> cuda_version{"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"};
  Call<unsigned*> device_count{"nvmlDeviceGetCount_v2"};
  Call<unsigned, Device*> device_by_index{"nvmlDeviceGetHandleByIndex_v2"};

  Call<const char*, Device*> device_by_uuid{"nvmlDeviceGetHandleByUUID"};

  Call<EventSet*> event_set_create{"nvmlEventSetCreate"};
  Call<Device, unsigned long long, EventSet> register_events{"nvmlDeviceRegisterEvents"};
  Call<EventSet, EventData*, unsigned> event_set_wait{"nvmlEventSetWait_v2",  // ms; since 11.0
                                                      "nvmlEventSetWait"};
  Call<EventSet> event_set_free{"nvmlEventSetFree"};

  TextCall name{"nvmlDeviceGetName"};
  TextCall uuid{"nvmlDeviceGetUUID"};
  TextCall serial{"nvmlDeviceGetSerial"};
  TextCall board_part_number{"nvmlDeviceGetBoardPartNumber"};
  TextCall vbios{"nvmlDeviceGetVbiosVersion"};
  TextCall inforom{"nvmlDeviceGetInforomImageVersion"};

  NumberCall board_id{"nvmlDeviceGetBoardId"};
  NumberCall module_id{"nvmlDeviceGetModuleId"};         // since 11.8
  NumberCall architecture{"nvmlDeviceGetArchitecture"};  // since 11.0
  NumberCall persistence{"nvmlDeviceGetPersistenceMode"};
  NumberCall compute_mode{"nvmlDeviceGetComputeMode"};
  NumberCall power_limit{"nvmlDeviceGetPowerManagementLimit"};  // these four: mW
  NumberCall power_limit_default{"nvmlDeviceGetPowerManagementDefaultLimit"};
  NumberCall power_limit_enforced{"nvmlDeviceGetEnforcedPowerLimit"};
  NumberCall power{"nvmlDeviceGetPowerUsage"};
  NumberCall pcie_generation{"nvmlDeviceGetCurrPcieLinkGeneration"};
  NumberCall pcie_generation_max{"nvmlDeviceGetMaxPcieLinkGeneration"};     // of GPU and slot
  NumberCall pcie_generation_gpu{"nvmlDeviceGetGpuMaxPcieLinkGeneration"};  // since 12.0
  NumberCall pcie_width{"nvmlDeviceGetCurrPcieLinkWidth"};
  NumberCall pcie_width_max{"nvmlDeviceGetMaxPcieLinkWidth"};

  Call<Device, PciInfo*> pci{"nvmlDeviceGetPciInfo_v3"};
  Call<Device, int*, int*> compute_capability{"nvmlDeviceGetCudaComputeCapability"};
  Call<Device, unsigned*, unsigned*> power_limit_range{
      "nvmlDeviceGetPowerManagementLimitConstraints"};
  Call<Device, int, unsigned*> max_clock{"nvmlDeviceGetMaxClockInfo"};   // MHz, of a Clock
  Call<Device, int, int, unsigned*> clock{"nvmlDeviceGetClock"};         // MHz, Clock, ClockId
  Call<Device, int, unsigned*> temperature{"nvmlDeviceGetTemperature"};  // 0: the GPU's
  Call<Device, int, unsigned*> threshold{"nvmlDeviceGetTemperatureThreshold"};
  Call<Device, unsigned*, unsigned*> ecc{"nvmlDeviceGetEccMode"};  // now, after a reset
  Call<Device, unsigned*, unsigned*> mig{"nvmlDeviceGetMigMode"};  // since 11.0
  Call<Device, Memory*> memory{"nvmlDeviceGetMemoryInfo"};
  Call<Device, Utilization*> utilization{"nvmlDeviceGetUtilizationRates"};
  Call<Device, unsigned long long*> energy{"nvmlDeviceGetTotalEnergyConsumption"};  // mJ; since 9.1
  Call<Device, unsigned long long*> event_reasons{"nvmlDeviceGetCurrentClocksEventReasons",  // 12.2
                                                  "nvmlDeviceGetCurrentClocksThrottleReasons"};
  Call<Device, unsigned, unsigned*> nvlink_state{"nvmlDeviceGetNvLinkState"};
  Call<Device, unsigned, unsigned*> nvlink_version{"nvmlDeviceGetNvLinkVersion"};
  Call<Device, unsigned, PciInfo*> nvlink_remote{"nvmlDeviceGetNvLinkRemotePciInfo_v2"};
  Call<Device, FabricInfo*> fabric{"nvmlDeviceGetGpuFabricInfoV"};  // since 12.4
  Call<Device, int, FieldValue*> fields{"nvmlDeviceGetFieldValues"};
  ProcessesCall compute_processes{"nvmlDeviceGetComputeRunningProcesses_v2",
                                  "nvmlDeviceGetComputeRunningProcesses_v3"};
  ProcessesCall graphics_processes{"nvmlDeviceGetGraphicsRunningProcesses_v2",
                                   "nvmlDeviceGetGraphicsRunningProcesses_v3"};

  // Since 11.8; Hopper and later.
  Call<Device, GpmSupport*> gpm_support{"nvmlGpmQueryDeviceSupport"};
  Call<GpmSample*> gpm_allocate{"nvmlGpmSampleAlloc"};
  Call<GpmSample> gpm_free{"nvmlGpmSampleFree"};
  Call<Device, GpmSample> gpm_sample{"nvmlGpmSampleGet"};
  Call<GpmMetricsGet*> gpm_metrics{"nvmlGpmMetricsGet"};

 private:
  void find_calls();

  void* handle_ = nullptr;
  bool started_ = false;
  std::string problem_;
  Call<> init_{"nvmlInit_v2"};
  Call<> shutdown_{"nvmlShutdown"};
  const char* (*error_text_)(Return) = nullptr;
};

}  // namespace bench::nvml
