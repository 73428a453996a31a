#include "probes/backends/cuda/nvml/gpu_monitor.h"

#include <algorithm>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "core/record.h"
#include "probes/backends/cuda/nvml/reader.h"
#include "probes/backends/cuda/nvml/xid.h"

namespace bench::nvml {
namespace {

constexpr int kMostEvents = 256;
constexpr double kMegabyte = 1e6;

std::string address_of(const Library& nvml, Device device) {
  PciInfo pci{};
  if (nvml.pci(device, &pci) != kSuccess) return {};
  const std::string whole = kernel_address(pci);
  return whole.substr(0, whole.rfind('.'));
}

/// Active NVLinks; nothing where the driver would not say.
std::optional<unsigned> active_links(const Library& nvml, Device device) {
  unsigned active = 0;
  for (unsigned link = 0; link < kMaxLinks; ++link) {
    unsigned state = 0;
    const Return code = nvml.nvlink_state(device, link, &state);
    if (code == kSuccess)
      active += state == 1 ? 1 : 0;
    else if (link == 0)
      return code == kNotSupported ? std::optional(0u) : std::nullopt;
  }
  return active;
}

}  // namespace

/// The event set. NVML keeps what happened until it is asked.
struct GpuMonitor::Events {
  std::shared_ptr<const Library> nvml;
  EventSet set = nullptr;
  bool lost = false;  // a call did not return: never asked again

  Events(std::shared_ptr<const Library> library, Device device) : nvml(std::move(library)) {
    if (nvml->event_set_create(&set) != kSuccess) set = nullptr;
    if (set != nullptr && nvml->register_events(device, kXidEvent, set) != kSuccess) {
      nvml->event_set_free(set);
      set = nullptr;  // not supported: GeForce before some driver, vGPU
    }
  }
  ~Events() {
    if (set != nullptr) nvml->event_set_free(set);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  std::vector<unsigned> drain() const {
    std::vector<unsigned> numbers;
    for (int i = 0; i < kMostEvents; ++i) {
      EventData event{};
      if (nvml->event_set_wait(set, &event, 0) != kSuccess) break;
      if ((event.type & kXidEvent) != 0) numbers.push_back(static_cast<unsigned>(event.data));
    }
    return numbers;
  }
};

unsigned slowdown_flags(unsigned long long reasons) {
  constexpr unsigned long long kHeat =
      kReasonHardware | kReasonThermal | kReasonHardwareThermal | kReasonPowerBrake;
  unsigned flags = kClean;
  if ((reasons & kHeat) != 0) flags |= kThermal;
  if ((reasons & kReasonPowerCap) != 0) flags |= kPowerCapped;
  return flags;
}

std::unique_ptr<GpuMonitor> GpuMonitor::find(std::shared_ptr<const Library> nvml,
                                             const std::string& uuid,
                                             const MonitorSettings& settings) {
  Device device = nullptr;
  if (nvml == nullptr || nvml->device_by_uuid(uuid.c_str(), &device) != kSuccess) return {};
  return std::unique_ptr<GpuMonitor>(new GpuMonitor(std::move(nvml), device, settings));
}

GpuMonitor::GpuMonitor(std::shared_ptr<const Library> nvml, Device device,
                       const MonitorSettings& settings)
    : nvml_(std::move(nvml)),
      device_(device),
      settings_(settings),
      address_(address_of(*nvml_, device)),
      log_(settings.kernel_log),
      events_(std::make_shared<Events>(nvml_, device)) {}

GpuMonitor::~GpuMonitor() = default;

unsigned GpuMonitor::slowdown() {
  const auto now = std::chrono::steady_clock::now();
  if (std::chrono::duration<double>(now - asked_).count() < settings_.period.value)
    return last_slowdown_;
  asked_ = now;
  unsigned long long reasons = 0;
  const bool known = nvml_->event_reasons(device_, &reasons) == kSuccess;
  return last_slowdown_ = known ? slowdown_flags(reasons) : kClean;
}

std::vector<unsigned> GpuMonitor::event_numbers() {
  if (events_->set == nullptr || events_->lost) return {};
  std::packaged_task<std::vector<unsigned>()> ask([events = events_] { return events->drain(); });
  auto answer = ask.get_future();
  std::thread thread(std::move(ask));
  const bool late = answer.wait_for(std::chrono::duration<double>(settings_.patience.value)) !=
                    std::future_status::ready;
  if (!late) {
    thread.join();
    return answer.get();
  }
  thread.detach();
  events_->lost = true;
  return {};
}

std::vector<DeviceFault> GpuMonitor::faults() {
  std::vector<std::pair<unsigned, std::string>> found;  // in order, each number once
  const auto add = [&](unsigned number, const std::string& text) {
    const auto known = std::find_if(found.begin(), found.end(),
                                    [&](const auto& one) { return one.first == number; });
    if (known == found.end())
      found.emplace_back(number, text);
    else if (known->second.empty())
      known->second = text;
  };
  for (const unsigned number : event_numbers()) add(number, "");
  for (const std::string& line : log_.take())
    if (const auto xid = parse_xid(line); xid && xid->pci_address == address_)
      add(xid->number, xid->text);
  std::vector<DeviceFault> faults;
  for (const auto& [number, text] : found) faults.push_back(describe_xid(number, text));
  return faults;
}

Json GpuMonitor::links() const {
  Json facts = Json::object();
  if (const auto links = active_links(*nvml_, device_)) facts["nvlinks"] = *links;
  const Reader gpu(*nvml_, device_);
  const Json count = gpu.link_field(kC2cLinkCount, 0);
  if (!count.is_number()) return facts;
  unsigned active = 0;
  double bandwidth = 0.0;
  for (unsigned link = 0; link < std::min(count.get<unsigned>(), 64u); ++link) {
    if (gpu.link_field(kC2cLinkStatus, link) != 1) continue;
    const Json speed = gpu.link_field(kC2cLinkBandwidth, link);
    ++active;
    if (speed.is_number()) bandwidth += speed.get<double>() * kMegabyte;
  }
  facts["c2c_links"] = active;
  if (bandwidth > 0.0) facts["c2c_bytes_per_second"] = bandwidth;
  return facts;
}

}  // namespace bench::nvml
