// A libnvidia-ml of one make-believe H100 whose health the variable FAKE_NVML chooses: healthy,
// throttling, remapped_rows_narrow_pcie, errors (every question about the GPU is refused), hangs
// (never starts, and ignores SIGTERM), crashes, hangs_later (starts; its third power reading never
// returns), long_answers (a name that fills its buffer, with bytes that are no text), superchip
// (NVLink-C2C, two of three links up), no_nvlink, events_hang (asked for Xids, it never returns).
//
// FAKE_NVML_XID=79 is an Xid that waits to be asked for; FAKE_NVML_PID a process on the GPU
// alongside the two that always are.
//
// It declares NVML's structures once more, from the manual, so that a wrong layout in the code
// under test shows.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool scenario(const char* name) {
  const char* chosen = std::getenv("FAKE_NVML");
  return chosen != nullptr && std::strcmp(chosen, name) == 0;
}

[[noreturn]] void never_return() {
  std::signal(SIGTERM, SIG_IGN);
  for (;;) pause();
}

constexpr int kOk = 0, kInvalid = 2, kUnsupported = 3, kLost = 15;
int gpu_answers() { return scenario("errors") ? kLost : kOk; }

template <class T>
int give(T* where, T value) {
  if (where == nullptr) return kInvalid;
  if (gpu_answers() == kOk) *where = value;
  return gpu_answers();
}

int give_text(char* where, unsigned length, const std::string& text) {
  if (gpu_answers() != kOk) return gpu_answers();
  if (length < text.size() + 1) return 7;
  std::memcpy(where, text.c_str(), text.size() + 1);
  return kOk;
}

struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char address[32];
};
struct Fabric {
  unsigned version;
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health_mask;
};
struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
struct FieldValue {
  std::uint32_t id, scope;
  std::int64_t time, latency;
  std::int32_t type, result;
  union {
    double f64;
    std::uint32_t u32;
    std::uint64_t u64;
  };
};
struct Metric {
  std::uint32_t id;
  std::int32_t result;
  double value;
  const char* words[3];
};
struct MetricsGet {
  std::uint32_t version, count;
  void *first, *second;
  Metric metrics[333];
};
struct Three {
  unsigned long long total, free, used;
};
struct Two {
  unsigned gpu, memory;
};
struct EventData {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

/// The number in a variable of the environment; 0 where there is none.
unsigned chosen(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : static_cast<unsigned>(std::atoi(text));
}

std::atomic<unsigned> power_readings{0};
std::atomic<unsigned> energy_readings{0};

void answer(FieldValue& field, std::uint64_t value) {
  field.type = 3;
  field.u64 = value;
}

void fill(FieldValue& field) {
  const bool throttles = scenario("throttling");
  const bool worn = scenario("remapped_rows_narrow_pcie");
  field.result = kOk;
  if (field.id == 74) return answer(field, throttles ? 9'000'000'000u : 0u);
  if (field.id == 75) return answer(field, throttles ? 2'500'000'000u : 0u);
  if (field.id >= 3 && field.id <= 6) return answer(field, worn && field.id == 6 ? 3 : 0);
  if (field.id == 143) return answer(field, worn ? 7 : 0);
  if (field.id == 142 || field.id == 144 || field.id == 145)
    return answer(field, worn && field.id == 144 ? 1 : 0);
  if (field.id == 197 || field.id == 198) return answer(field, field.id * 1'000'000'000ull);
  if (field.id == 94) return answer(field, worn ? 41 : 0);
  if (field.id == 91) return answer(field, 2);
  if (field.id == 138 && field.scope == ~0u) return answer(field, 1000);
  if (field.id == 38 || field.id == 45 || field.id == 52 || field.id == 59) return answer(field, 0);
  if (field.id == 215) return answer(field, field.scope);
  if (field.id == 82) {
    field.type = 1;
    field.u32 = 61;
    return;
  }
  if (scenario("superchip") && field.id == 170) return answer(field, 3);
  if (scenario("superchip") && field.id == 171) return answer(field, field.scope == 1 ? 0 : 1);
  if (scenario("superchip") && field.id == 172) return answer(field, 44712);
  if (field.id == 186) {
    if (scenario("hangs_later") && ++power_readings > 2) never_return();
    field.type = 1;
    field.u32 = throttles ? 700'500 : 350'250;
    return;
  }
  field.result = kUnsupported;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (scenario("hangs")) never_return();
  if (scenario("crashes")) std::abort();
  if (scenario("no_driver")) return 9;
  return kOk;
}
int nvmlShutdown() { return kOk; }
const char* nvmlErrorString(int code) {
  return code == kLost          ? "GPU is lost"
         : code == kUnsupported ? "Not Supported"
         : code == 9            ? "Driver Not Loaded"
                                : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  if (length < 10) return 7;
  std::strcpy(text, "550.54.15");
  return kOk;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12040;
  return kOk;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return kOk;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int gpu;
  *device = &gpu;
  return index == 0 ? kOk : kInvalid;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  if (std::strcmp(uuid, "GPU-12345678-9abc-def0-1234-56789abcdef0") != 0) return kInvalid;
  return nvmlDeviceGetHandleByIndex_v2(0, device);
}
int nvmlEventSetCreate(void** set) {
  *set = new int(0);
  return kOk;
}
int nvmlEventSetFree(void* set) {
  delete static_cast<int*>(set);
  return kOk;
}
int nvmlDeviceRegisterEvents(void*, unsigned long long types, void* set) {
  if (gpu_answers() != kOk) return gpu_answers();
  *static_cast<int*>(set) = static_cast<int>(types);
  return kOk;
}
int nvmlEventSetWait_v2(void* set, EventData* event, unsigned timeout) {
  constexpr int kTimeout = 10;
  if (scenario("events_hang")) never_return();
  const unsigned xid = chosen("FAKE_NVML_XID");
  if (timeout != 0 || *static_cast<int*>(set) != 8) return kInvalid;
  if (xid == 0) return kTimeout;
  unsetenv("FAKE_NVML_XID");
  *event = {nullptr, 8, xid, ~0u, ~0u};
  return kOk;
}

int nvmlDeviceGetName(void*, char* text, unsigned length) {
  if (!scenario("long_answers")) return give_text(text, length, "NVIDIA H100 80GB HBM3");
  std::memset(text, '\xff', length);  // without an end
  return kOk;
}
int nvmlDeviceGetUUID(void*, char* text, unsigned length) {
  return give_text(text, length, "GPU-12345678-9abc-def0-1234-56789abcdef0");
}
int nvmlDeviceGetSerial(void*, char* text, unsigned length) {
  return give_text(text, length, "1650123000042");
}
int nvmlDeviceGetBoardPartNumber(void*, char* text, unsigned length) {
  return give_text(text, length, "692-2G520-0200-000");
}
int nvmlDeviceGetVbiosVersion(void*, char* text, unsigned length) {
  return give_text(text, length, "96.00.89.00.01");
}
int nvmlDeviceGetBoardId(void*, unsigned* id) { return give(id, 0x3b00u); }
int nvmlDeviceGetArchitecture(void*, unsigned* value) { return give(value, 9u); }
int nvmlDeviceGetPersistenceMode(void*, unsigned* mode) {
  return give(mode, scenario("throttling") ? 0u : 1u);
}
int nvmlDeviceGetPowerManagementLimit(void*, unsigned* value) { return give(value, 700'000u); }
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* value) { return give(value, 650'000u); }
int nvmlDeviceGetPowerUsage(void*, unsigned* value) { return give(value, 350'250u); }
int nvmlDeviceGetPowerManagementLimitConstraints(void*, unsigned* low, unsigned* high) {
  give(low, 200'000u);
  return give(high, 700'000u);
}
int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* value) { return give(value, 5u); }
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* value) { return give(value, 5u); }
int nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* value) {
  return give(value, scenario("remapped_rows_narrow_pcie") ? 8u : 16u);
}
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* value) { return give(value, 16u); }
int nvmlDeviceGetPciInfo_v3(void*, Pci* pci) {
  Pci value{};
  value.domain = 1;
  value.bus = 0x3b;
  value.id = 0x233010de;
  std::strcpy(value.address, "00000001:3B:00.0");
  return give(pci, value);
}
int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  give(minor, 0);
  return give(major, 9);
}
int nvmlDeviceGetMaxClockInfo(void*, int clock, unsigned* mhz) {
  return give(mhz, clock == 2 ? 2619u : 1980u);
}
int nvmlDeviceGetClock(void*, int clock, int, unsigned* mhz) {
  return give(mhz, clock == 2 ? 2619u : scenario("throttling") ? 1095u : 1980u);
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  return give(celsius, scenario("throttling") ? 91u : 45u);
}
int nvmlDeviceGetTemperatureThreshold(void*, int which, unsigned* celsius) {
  return give(celsius, which == 0 ? 92u : 89u);
}
int nvmlDeviceGetEccMode(void*, unsigned* now, unsigned* pending) {
  give(pending, 1u);
  return give(now, 1u);
}
int nvmlDeviceGetMigMode(void*, unsigned* now, unsigned* pending) {
  give(pending, 0u);
  return give(now, 0u);
}
int nvmlDeviceGetMemoryInfo(void*, Three* memory) {
  return give(memory, Three{85899345920ull, 85000000000ull, 899345920ull});
}
int nvmlDeviceGetUtilizationRates(void*, Two* rates) { return give(rates, Two{75, 25}); }
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  return give(millijoules, 1'000'000ull + 1000ull * energy_readings++);
}
// The name before 12.2 only, so that the older one is found.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  return give(reasons, scenario("throttling") ? 0x64ull : 0x0ull);
}
int nvmlDeviceGetNvLinkState(void*, unsigned link, unsigned* active) {
  if (scenario("no_nvlink")) return kUnsupported;
  if (link >= 2) return kInvalid;
  return give(active, link == 0 ? 1u : 0u);
}
int nvmlDeviceGetNvLinkVersion(void*, unsigned, unsigned* version) { return give(version, 6u); }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, Pci* pci) {
  Pci value{};
  value.bus = 5;
  return give(pci, value);
}
int nvmlDeviceGetGpuFabricInfoV(void*, Fabric* fabric) {
  if (fabric->version != (sizeof(Fabric) | 2u << 24)) return 25;
  Fabric value{fabric->version, {0xab, 0xcd}, 0, 4, 3, 2};
  return give(fabric, value);
}
int nvmlDeviceGetFieldValues(void*, int count, FieldValue* values) {
  if (gpu_answers() != kOk) return gpu_answers();
  for (int i = 0; i < count; ++i) fill(values[i]);
  return kOk;
}
int nvmlDeviceGetComputeRunningProcesses_v2(void*, unsigned* count, Process* processes) {
  if (gpu_answers() != kOk) return gpu_answers();
  processes[0] = {4711, 1ull << 30, ~0u, ~0u};
  processes[1] = {4712, ~0ull, ~0u, ~0u};
  processes[2] = {chosen("FAKE_NVML_PID"), 1ull << 20, ~0u, ~0u};
  *count = processes[2].pid == 0 ? 2 : 3;
  return kOk;
}

int nvmlGpmQueryDeviceSupport(void*, unsigned* support) {
  if (support[0] != 1) return 25;
  return give(&support[1], 1u);
}
int nvmlGpmSampleAlloc(void** sample) {
  *sample = new int(0);
  return kOk;
}
int nvmlGpmSampleFree(void* sample) {
  delete static_cast<int*>(sample);
  return kOk;
}
int nvmlGpmSampleGet(void*, void* sample) {
  static int taken = 0;
  *static_cast<int*>(sample) = ++taken;
  return gpu_answers();
}
int nvmlGpmMetricsGet(MetricsGet* get) {
  // The later sample must come second, and a driver of 13.2 clears all entries after the asked
  // ones.
  if (get->version != 1 || *static_cast<int*>(get->first) >= *static_cast<int*>(get->second))
    return kInvalid;
  for (std::uint32_t i = 0; i < get->count; ++i) {
    Metric& metric = get->metrics[i];
    metric.result = metric.id == 3 ? kUnsupported : kOk;
    metric.value = metric.id == 2 ? 80.0 : metric.id == 5 ? 55.0 : metric.id == 10 ? 30.0 : 2.0;
  }
  for (std::uint32_t i = get->count; i < 333; ++i) get->metrics[i] = {};
  return kOk;
}

}  // extern "C"
