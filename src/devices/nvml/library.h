// The libnvidia-ml of the driver, opened at run time. Every call is optional: one that the driver
// lacks returns kFunctionNotFound, so that only its fact is unreadable. Opening it and each call
// may block forever with a broken driver: see guarded.h.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace bench::nvml {

// The part of NVML's ABI that we use, so that nvml.h is not needed to build. Numbers and layouts
// were compared with the header of NVML 13.3; they never change for a given symbol, with the
// exceptions noted here. "Since 11.8" is the first header with a call; older drivers lack the
// symbol.

using Return = int;  // nvmlReturn_t
inline constexpr Return kSuccess = 0;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kFunctionNotFound = 13;

using Device = void*;     // nvmlDevice_t
using GpmSample = void*;  // nvmlGpmSample_t

/// nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3.
struct PciInfo {
  std::array<char, 16> legacy_address;
  unsigned domain, bus, device;
  unsigned id;  // device in the upper half, vendor in the lower
  unsigned subsystem_id;
  std::array<char, 32> address;  // "00000000:3B:00.0"
};
static_assert(sizeof(PciInfo) == 68);

struct Utilization {
  unsigned gpu, memory;  // percent
};

struct Memory {                          // nvmlMemory_t
  unsigned long long total, free, used;  // bytes; used includes driver reservations
};

/// nvmlProcessInfo_v2_t. In a few drivers 535 the symbol ..._v3 wrote a longer structure; that of
/// ..._v2 has never changed, so it is asked first.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;  // all ones: not known
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24);

/// nvmlFieldValue_t.
struct FieldValue {
  unsigned field;
  unsigned scope;  // for NVLink: the link, or all ones for their sum
  long long time_us, latency_us;
  int type;  // ValueType
  Return result;
  union {
    double f64;
    unsigned u32;
    unsigned long u_long;
    unsigned long long u64;
    long long i64;
    int i32;
    unsigned short u16;
  } value;
};
static_assert(sizeof(FieldValue) == 40);

enum ValueType { kDouble, kUnsigned, kUnsignedLong, kUnsigned64, kSigned64, kSigned, kUnsigned16 };

/// nvmlGpuFabricInfo_v2_t, of nvmlDeviceGetGpuFabricInfoV (since 12.4).
struct FabricInfo {
  unsigned version;
  std::array<unsigned char, 16> cluster;
  Return status;  // of the registration; valid if state is 3
  unsigned clique;
  unsigned char state;  // 0 not supported, 1 not started, 2 in progress, 3 completed
  unsigned health_mask;
};
static_assert(sizeof(FabricInfo) == 36);
/// NVML_STRUCT_VERSION: the size in the lower bits, the version from bit 24.
template <class T>
constexpr unsigned struct_version(unsigned version) {
  return static_cast<unsigned>(sizeof(T)) | (version << 24);
}

/// nvmlGpmMetric_t and nvmlGpmMetricsGet_t (since 11.8; Hopper and later). The array has 98, 210 or
/// 333 entries depending on the driver, all with version 1, and a driver may write all of it: ours
/// is longer.
struct GpmMetric {
  unsigned id;
  Return result;
  double value;
  const char *short_name, *long_name, *unit;
};
static_assert(sizeof(GpmMetric) == 40);

struct GpmMetricsGet {
  unsigned version;  // 1
  unsigned count;
  GpmSample first, second;
  std::array<GpmMetric, 512> metrics;
};
static_assert(offsetof(GpmMetricsGet, metrics) == 24);

struct GpmSupport {
  unsigned version;  // 1
  unsigned supported;
};

using EventSet = void*;  // nvmlEventSet_t
/// nvmlEventData_t of nvmlEventSetWait_v2; that of the older call is a prefix.
struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;  // the Xid; 999 if unknown to the library
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(EventData) == 32);
inline constexpr unsigned long long kXidEvent = 8;  // nvmlEventTypeXidCriticalError

/// nvmlClocksEventReason* that indicate trouble.
enum Reason : unsigned long long {
  kReasonPowerCap = 0x4,
  kReasonHardware = 0x8,
  kReasonThermal = 0x20,
  kReasonHardwareThermal = 0x40,
  kReasonPowerBrake = 0x80
};

enum Clock { kGraphicsClock, kSmClock, kMemoryClock };          // nvmlClockType_t
enum ClockId { kCurrentClock = 0, kBoostMaxClock = 3 };         // nvmlClockId_t
enum Threshold { kShutdownTemperature, kSlowdownTemperature };  // nvmlTemperatureThresholds_t

/// NVML_FI_DEV_*, for nvmlDeviceGetFieldValues. Unknown fields fail individually.
enum Field : unsigned {
  kEccCorrectedVolatile = 3,
  kEccUncorrectedVolatile = 4,
  kEccCorrectedAggregate = 5,
  kEccUncorrectedAggregate = 6,
  kNvlinkCrcFlitErrors = 38,  // sums over links, up to NVLink 4
  kNvlinkCrcDataErrors = 45,
  kNvlinkReplayErrors = 52,
  kNvlinkRecoveryErrors = 59,
  kThrottlePower = 74,  // these and 269 to 271: nanoseconds
  kThrottleThermal = 75,
  kThrottleSyncBoost = 76,
  kThrottleBoard = 77,
  kThrottleReliability = 79,
  kMemoryTemperature = 82,
  kNvlinkLinkCount = 91,
  kPcieReplays = 94,
  kNvlinkTransmitted = 138,  // KiB of payload
  kNvlinkReceived = 139,
  kRemappedCorrected = 142,  // rows; Ampere and later
  kRemappedUncorrected = 143,
  kRemappedPending = 144,
  kRemappedFailure = 145,
  kC2cLinkCount = 170,           // these three since 12.0; NVLink-C2C to the processor
  kC2cLinkStatus = 171,          // of one link; 1: active
  kC2cLinkBandwidth = 172,       // of one link, MB/s one way
  kPcieCorrectableErrors = 173,  // since 12.1
  kPcieNonFatalErrors = 179,
  kPcieFatalErrors = 180,
  kPowerInstant = 186,     // mW; since 12.2
  kPcieTransmitted = 197,  // bytes; since 12.6
  kPcieReceived = 198,
  kNvlinkRecoveryEvents = 215,     // of one link; NVLink 5; since 12.6
  kRecoveryAction = 230,           // since 12.8
  kThrottleSoftwareThermal = 269,  // since 12.9
  kThrottleHardwareThermal = 270,
  kThrottlePowerBrake = 271
};
inline constexpr unsigned kAllLinks = ~0u;
inline constexpr unsigned kMaxLinks = 36;  // NVML_NVLINK_MAX_LINKS; 18 before 13.0

/// NVML_GPM_METRIC_*: percent; MiB/s for links.
enum GpmMetricId : unsigned {
  kGpmSm = 2,
  kGpmOccupancy = 3,
  kGpmTensor = 5,
  kGpmDram = 10,
  kGpmPcieTransmitted = 20,
  kGpmPcieReceived = 21,
  kGpmNvlinkReceived = 60,
  kGpmNvlinkTransmitted = 61
};

inline constexpr const char* kDefaultLibrary = "libnvidia-ml.so.1";

template <class... Arguments>
class Call {
 public:
  /// `older` is used if the first symbol is missing.
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

  /// Why it cannot be used; "" if it can.
  const std::string& problem() const { return problem_; }
  /// The library's text for a code; "NVML error 42" if it has none.
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
