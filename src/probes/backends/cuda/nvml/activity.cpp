// GPM: how busy the parts of a GPU were between two samples of its hardware counters (Hopper and
// later). NVIDIA asks for more than 100 ms between samples, hence 5 Hz.
#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "probes/backends/cuda/nvml/samples.h"
#include "probes/telemetry/table_source.h"

namespace bench::nvml {
namespace {

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

  /// Of the time since the last reading; nothing the first time.
  void read(std::span<double> values) override {
    std::fill(values.begin(), values.end(), kUnread);
    if (samples_[0] == nullptr || samples_[1] == nullptr) return;
    const auto now = std::chrono::steady_clock::now();
    if (has_one_ && now - taken_ < kLeastGap) return;  // the last reading of a job may come early
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

}  // namespace

std::unique_ptr<CounterSource> activity_counters(std::shared_ptr<const Library> nvml, Device device,
                                                 const std::string& name) {
  GpmSupport support{1, 0};
  if (nvml->gpm_support(device, &support) != kSuccess || support.supported != 1) return {};
  return std::make_unique<ActivityCounters>(std::move(nvml), device, name + ".activity");
}

}  // namespace bench::nvml
