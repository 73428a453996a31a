#include "devices/nvml/gpu_host.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <utility>

#include "devices/counters/counter_source.h"
#include "devices/counters/host_counters.h"
#include "devices/counters/nic_statistics.h"
#include "devices/facts/preflight_facts.h"
#include "devices/facts/unreadable.h"
#include "devices/nvml/facts.h"
#include "devices/nvml/reader.h"

namespace bench::nvml {
namespace {

// GPM: utilisation of GPU units between two samples of hardware counters (Hopper and later). NVIDIA
// requires more than 100 ms between samples, hence 5 Hz.

constexpr Seconds kPeriod{0.2};
constexpr std::chrono::milliseconds kLeastGap{110};
constexpr double kPercent = 0.01;
constexpr double kMebi = 1048576.0;

struct Metric {
  GpmMetricId id;
  const char* name;
  const char* unit;
  double factor;
};

constexpr std::array<Metric, 8> kMetrics{
    {{kGpmSm, "sm_active", "ratio", kPercent},
     {kGpmOccupancy, "sm_occupancy", "ratio", kPercent},
     {kGpmTensor, "tensor_active", "ratio", kPercent},
     {kGpmDram, "dram_active", "ratio", kPercent},
     {kGpmPcieTransmitted, "pcie_sent", "byte_per_second", kMebi},
     {kGpmPcieReceived, "pcie_received", "byte_per_second", kMebi},
     {kGpmNvlinkTransmitted, "nvlink_sent", "byte_per_second", kMebi},
     {kGpmNvlinkReceived, "nvlink_received", "byte_per_second", kMebi}}};

class ActivityCounters final : public CounterSource {
 public:
  ActivityCounters(std::shared_ptr<const Library> nvml, Device device, std::string name)
      : nvml_(std::move(nvml)), device_(device), name_(std::move(name)) {
    for (GpmSample& sample : samples_)
      if (nvml_->gpm_allocate(&sample) != kSuccess) sample = nullptr;
  }
  ~ActivityCounters() override {
    for (const GpmSample sample : samples_)
      if (sample != nullptr) nvml_->gpm_free(sample);
  }
  ActivityCounters(const ActivityCounters&) = delete;
  ActivityCounters& operator=(const ActivityCounters&) = delete;

  std::string name() const override { return name_; }
  Seconds least_period() const override { return kPeriod; }
  std::vector<CounterColumn> columns() const override {
    std::vector<CounterColumn> columns;
    for (const Metric& metric : kMetrics)
      columns.push_back({metric.name, metric.unit, CounterColumn::gauge});
    return columns;
  }

  /// Covers the time since the last reading; nothing the first time.
  void read(std::span<double> values) override {
    std::fill(values.begin(), values.end(), kUnread);
    if (samples_[0] == nullptr || samples_[1] == nullptr) return;
    const auto now = std::chrono::steady_clock::now();
    if (has_one_ && now - taken_ < kLeastGap) return;  // the last reading may be early
    taken_ = now;
    const bool had_one =
        std::exchange(has_one_, nvml_->gpm_sample(device_, samples_[1]) == kSuccess);
    if (had_one && has_one_) compare(values);
    std::swap(samples_[0], samples_[1]);
  }

 private:
  void compare(std::span<double> values) {
    ask_->version = 1;
    ask_->count = kMetrics.size();
    ask_->first = samples_[0];
    ask_->second = samples_[1];
    for (std::size_t i = 0; i < kMetrics.size(); ++i)
      ask_->metrics[i] = {kMetrics[i].id, kNotSupported, 0.0, nullptr, nullptr, nullptr};
    if (nvml_->gpm_metrics(ask_.get()) != kSuccess) return;
    for (std::size_t i = 0; i < kMetrics.size(); ++i)
      if (ask_->metrics[i].result == kSuccess)
        values[i] = ask_->metrics[i].value * kMetrics[i].factor;
  }

  std::shared_ptr<const Library> nvml_;
  Device device_;
  std::string name_;
  std::array<GpmSample, 2> samples_{};  // the earlier and the later
  bool has_one_ = false;
  std::chrono::steady_clock::time_point taken_;
  std::unique_ptr<GpmMetricsGet> ask_ = std::make_unique<GpmMetricsGet>();  // 20 KiB
};

/// Null if the GPU (before Hopper) or driver has no GPM. There is no substitute: NVML's utilisation
/// is 100 % whenever any kernel runs.
std::unique_ptr<CounterSource> activity_counters(std::shared_ptr<const Library> nvml, Device device,
                                                 const std::string& name) {
  GpmSupport support{1, 0};
  if (nvml->gpm_support(device, &support) != kSuccess || support.supported != 1) return {};
  return std::make_unique<ActivityCounters>(std::move(nvml), device, name + ".activity");
}

constexpr auto kCounter = CounterColumn::counter;
constexpr auto kGauge = CounterColumn::gauge;
constexpr double kKibi = 1024.0;
constexpr unsigned kMostSampled = 64;

using Shared = std::shared_ptr<const Library>;

struct FieldColumn {
  CounterColumn column;
  Field field;
  double factor;
};

/// Reads all fields in one call.
void read_fields(const Library& nvml, Device device, std::vector<FieldValue>& asked,
                 const std::vector<FieldColumn>& columns, std::span<double> values) {
  for (FieldValue& field : asked) field.result = kNotSupported;
  const Return code = nvml.fields(device, static_cast<int>(asked.size()), asked.data());
  for (std::size_t i = 0; i < columns.size(); ++i)
    values[i] = code == kSuccess && asked[i].result == kSuccess
                    ? number_of(asked[i]) * columns[i].factor
                    : kUnread;
}

std::vector<FieldValue> fields_of(const std::vector<FieldColumn>& columns) {
  std::vector<Field> wanted;
  for (const FieldColumn& column : columns) wanted.push_back(column.field);
  return make_fields(wanted);
}

std::vector<CounterColumn> columns_of(const std::vector<FieldColumn>& fields,
                                      std::vector<CounterColumn> more) {
  std::vector<CounterColumn> columns;
  for (const FieldColumn& field : fields) columns.push_back(field.column);
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

double clock_hz(const Library& nvml, Device device, Clock clock) {
  unsigned mhz = 0;
  return nvml.clock(device, clock, kCurrentClock, &mhz) == kSuccess ? mhz * 1e6 : kUnread;
}

std::unique_ptr<CounterSource> fast_counters(Shared nvml, Device device, const std::string& name) {
  const std::vector<FieldColumn> fields = {{{"power_w", "watt", kGauge}, kPowerInstant, 1e-3}};
  return std::make_unique<TableSource>(
      name + ".fast",
      columns_of(fields, {{"sm_clock_hz", "hertz", kGauge},
                          {"event_reasons", "bits", kGauge, 0.0, all_reasons()}}),
      [nvml, device, fields, asked = fields_of(fields)](std::span<double> values) mutable {
        read_fields(*nvml, device, asked, fields, values);
        unsigned milliwatt = 0;  // drivers before 530 have no instantaneous power
        if (!(values[0] >= 0.0) && nvml->power(device, &milliwatt) == kSuccess)
          values[0] = milliwatt * 1e-3;
        values[1] = clock_hz(*nvml, device, kSmClock);
        unsigned long long reasons = 0;
        const bool known = nvml->event_reasons(device, &reasons) == kSuccess;
        values[2] = known ? static_cast<double>(reasons) : kUnread;
      },
      Seconds{0.1});
}

std::unique_ptr<CounterSource> slow_counters(Shared nvml, Device device, const std::string& name) {
  const std::vector<FieldColumn> fields = {
      {{"memory_temperature_c", "celsius", kGauge}, kMemoryTemperature, 1.0},
      {{"throttled_power_s", "second", kCounter}, kThrottlePower, 1e-9},
      {{"throttled_thermal_s", "second", kCounter}, kThrottleThermal, 1e-9},
      {{"throttled_board_s", "second", kCounter}, kThrottleBoard, 1e-9},
      {{"throttled_software_thermal_s", "second", kCounter}, kThrottleSoftwareThermal, 1e-9},
      {{"throttled_hardware_thermal_s", "second", kCounter}, kThrottleHardwareThermal, 1e-9},
      {{"throttled_power_brake_s", "second", kCounter}, kThrottlePowerBrake, 1e-9},
      {{"nvlink_sent_bytes", "byte", kCounter}, kNvlinkTransmitted, kKibi},
      {{"nvlink_received_bytes", "byte", kCounter}, kNvlinkReceived, kKibi}};
  return std::make_unique<TableSource>(
      name + ".slow",
      columns_of(fields, {{"energy_j", "joule", kCounter},
                          {"temperature_c", "celsius", kGauge},
                          {"memory_clock_hz", "hertz", kGauge},
                          {"memory_used_bytes", "byte", kGauge},
                          {"kernel_running", "ratio", kGauge}}),
      [nvml, device, fields, asked = fields_of(fields)](std::span<double> values) mutable {
        read_fields(*nvml, device, asked, fields, values);
        const std::span<double> more = values.subspan(fields.size());
        unsigned long long energy = 0;
        more[0] = nvml->energy(device, &energy) == kSuccess ? double(energy) * 1e-3 : kUnread;
        unsigned celsius = 0;
        more[1] = nvml->temperature(device, 0, &celsius) == kSuccess ? celsius : kUnread;
        more[2] = clock_hz(*nvml, device, kMemoryClock);
        Memory memory{};
        more[3] = nvml->memory(device, &memory) == kSuccess ? double(memory.used) : kUnread;
        Utilization rates{};
        more[4] = nvml->utilization(device, &rates) == kSuccess ? rates.gpu * 0.01 : kUnread;
      },
      Seconds{1.0});
}

std::unique_ptr<CounterSource> field_counters(Shared nvml, Device device, const std::string& name,
                                              const std::vector<FieldColumn>& fields) {
  return std::make_unique<TableSource>(
      name, columns_of(fields, {}),
      [nvml, device, fields, asked = fields_of(fields)](std::span<double> values) mutable {
        read_fields(*nvml, device, asked, fields, values);
      },
      Seconds{10.0});
}

std::unique_ptr<CounterSource> health_counters(Shared nvml, Device device,
                                               const std::string& name) {
  const std::vector<FieldColumn> fields = {
      {{"ecc_corrected", "count", kCounter}, kEccCorrectedVolatile, 1.0},
      {{"ecc_uncorrected", "count", kCounter}, kEccUncorrectedVolatile, 1.0},
      {{"remapped_rows_corrected", "count", kCounter}, kRemappedCorrected, 1.0},
      {{"remapped_rows_uncorrected", "count", kCounter}, kRemappedUncorrected, 1.0},
      {{"remapped_rows_pending", "count", kGauge}, kRemappedPending, 1.0},
      {{"remapped_rows_failed", "count", kGauge}, kRemappedFailure, 1.0},
      {{"pcie_replays", "count", kCounter}, kPcieReplays, 1.0},
      {{"nvlink_crc_flit_errors", "count", kCounter}, kNvlinkCrcFlitErrors, 1.0},
      {{"nvlink_replay_errors", "count", kCounter}, kNvlinkReplayErrors, 1.0},
      {{"nvlink_recovery_errors", "count", kCounter}, kNvlinkRecoveryErrors, 1.0}};
  return field_counters(std::move(nvml), device, name + ".health", fields);
}

/// Bytes over PCIe and NVLink, to relate the errors of `health` to.
std::unique_ptr<CounterSource> traffic_counters(Shared nvml, Device device,
                                                const std::string& name) {
  const std::vector<FieldColumn> fields = {
      {{"nvlink_sent_bytes", "byte", kCounter}, kNvlinkTransmitted, kKibi},
      {{"nvlink_received_bytes", "byte", kCounter}, kNvlinkReceived, kKibi},
      {{"pcie_sent_bytes", "byte", kCounter}, kPcieTransmitted, 1.0},
      {{"pcie_received_bytes", "byte", kCounter}, kPcieReceived, 1.0}};
  return field_counters(std::move(nvml), device, name + ".traffic", fields);
}

}  // namespace
}  // namespace bench::nvml

namespace bench {

CounterSources gpu_counters(const std::string& library) {
  const auto nvml = std::make_shared<const nvml::Library>(library);
  CounterSources sources;
  unsigned count = 0;
  if (!nvml->problem().empty() || nvml->device_count(&count) != nvml::kSuccess) return sources;
  for (unsigned index = 0; index < std::min(count, nvml::kMostSampled); ++index) {
    nvml::Device device = nullptr;
    if (nvml->device_by_index(index, &device) != nvml::kSuccess) continue;
    const std::string name = "gpu" + std::to_string(index);
    sources.push_back(nvml::fast_counters(nvml, device, name));
    sources.push_back(nvml::slow_counters(nvml, device, name));
    sources.push_back(nvml::health_counters(nvml, device, name));
    sources.push_back(nvml::traffic_counters(nvml, device, name));
    if (auto activity = nvml::activity_counters(nvml, device, name))
      sources.push_back(std::move(activity));
  }
  return sources;
}

std::vector<Facts> GpuHost::facts(const std::set<int>& own) {
  const Json gpus = read_gpu_facts(library_, guard_);
  asked_ = true;
  answers_ = !is_unreadable(gpus);
  return {{"gpus", gpus}, {"preflight", read_preflight_facts(files_, gpus, own)}};
}

std::shared_ptr<const nvml::Library> GpuHost::nvml() {
  if (!asked_) {
    const Json count = guarded(
        [this]() -> Json {
          const nvml::Library library(library_);
          if (!library.problem().empty()) return unreadable(library.problem());
          unsigned gpus = 0;
          const nvml::Return code = library.device_count(&gpus);
          return code == nvml::kSuccess ? Json(gpus) : unreadable(library.text(code));
        },
        guard_);
    asked_ = true;
    answers_ = !is_unreadable(count);
  }
  return answers_ ? std::make_shared<const nvml::Library>(library_) : nullptr;
}

CounterSources GpuHost::counters() const {
  CounterSources sources = host_counters(files_, read_nic);
  if (!answers_) return sources;
  CounterSources gpus = gpu_counters(library_);
  sources.insert(sources.end(), std::make_move_iterator(gpus.begin()),
                 std::make_move_iterator(gpus.end()));
  return sources;
}

}  // namespace bench
