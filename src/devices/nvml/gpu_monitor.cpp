#include "devices/nvml/gpu_monitor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <future>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "core/record.h"
#include "core/text.h"
#include "devices/nvml/reader.h"

namespace bench::nvml {
namespace {

constexpr std::size_t kMostText = 200;

struct Meaning {
  unsigned number;
  bool fatal;
  const char* words;
};

constexpr std::array<Meaning, 32> kMeanings{{
    {13, false, "graphics engine exception"},
    {31, false, "GPU memory page fault"},
    {32, false, "corrupted push buffer, mostly from the PCIe link"},
    {43, false, "GPU stopped processing a kernel after a software fault"},
    {45, false, "preemptive cleanup after an earlier error or a kill"},
    {46, true, "GPU stopped processing"},
    {48, true, "uncorrectable memory error (double bit)"},
    {54, false, "auxiliary power not connected"},
    {62, true, "power management unit halted"},
    {63, false, "memory row remapping pending"},
    {64, true, "memory row remapping failed"},
    {74, true, "NVLink error"},
    {79, true, "the GPU has fallen off the bus"},
    {92, false, "high rate of correctable memory errors"},
    {94, true, "contained uncorrectable memory error"},
    {95, true, "uncontained uncorrectable memory error"},
    {109, true, "context switch timeout"},
    {110, true, "security fault, mostly a hardware failure"},
    {119, true, "GSP RPC timeout"},
    {120, true, "GSP error"},
    {121, false, "corrected NVLink-C2C errors"},
    {136, true, "NVLink training failed"},
    {137, false, "illegal access over NVLink"},
    {140, true, "unrecovered ECC errors"},
    {143, true, "GPU initialisation failed"},
    {154, false, "GPU recovery action changed"},
    {156, true, "resource retirement"},
    {157, false, "resource retirement failed"},
    {158, true, "fatal timeout"},
    {167, true, "fatal PCIe timeout"},
    {171, true, "uncorrectable DRAM error"},
    {172, true, "uncorrectable SRAM error"},
}};

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

bool is_hex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char letter) {
    return std::isxdigit(letter) != 0;
  });
}

/// "0000:3b:00" at the start of the text in parentheses; else "".
std::string address_of(std::string_view text) {
  take(text, "PCI:");
  const auto bus = text.find(':');
  if (bus == std::string_view::npos || bus < 4 || text.size() < bus + 6 || text[bus + 3] != ':')
    return {};
  const std::string_view address = text.substr(0, bus + 6);
  if (!is_hex(address.substr(0, bus)) || !is_hex(address.substr(bus + 1, 2)) ||
      !is_hex(address.substr(bus + 4, 2)))
    return {};
  return to_lower(address);
}

}  // namespace

DeviceFault describe_xid(unsigned number, const std::string& log_text) {
  const auto found = std::find_if(kMeanings.begin(), kMeanings.end(),
                                  [&](const Meaning& one) { return one.number == number; });
  const bool known = found != kMeanings.end();
  std::string text = fmt::format("Xid {}", number);
  if (known) text += std::string(": ") + found->words;
  if (!log_text.empty()) text += (known ? " (" : ": ") + log_text + (known ? ")" : "");
  return {static_cast<int>(number), text, known && found->fatal};
}

std::optional<LoggedXid> parse_xid(std::string_view line) {
  constexpr std::string_view kMark = "NVRM: Xid (";
  const auto mark = line.find(kMark);
  if (mark == std::string_view::npos) return {};
  line.remove_prefix(mark + kMark.size());
  const auto close = line.find("): ");
  if (close == std::string_view::npos) return {};
  LoggedXid xid;
  xid.pci_address = address_of(line.substr(0, close));
  line.remove_prefix(close + 3);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), xid.number);
  if (xid.pci_address.empty() || error != std::errc{} || xid.number == 0 || xid.number > 9999)
    return {};
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (!take(line, ", ")) take(line, ",");
  xid.text = trim(line.substr(0, kMostText));
  return xid;
}

KernelLog::KernelLog(const std::string& path)
    : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_.valid()) lseek(file_.get(), 0, SEEK_END);
}

std::vector<std::string> KernelLog::take() {
  constexpr int kMostReads = 4096;
  std::vector<std::string> lines;
  if (!file_.valid()) return lines;
  std::array<char, 8192> buffer;  // /dev/kmsg returns one message per read
  for (int reads = 0; reads < kMostReads; ++reads) {
    const ssize_t got = read(file_.get(), buffer.data(), buffer.size());
    // EPIPE: unread messages were overwritten; the next read continues after them.
    if (got < 0 && (errno == EINTR || errno == EPIPE)) continue;
    if (got <= 0) break;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
    for (const std::string_view line : words_of(text, "\n")) lines.emplace_back(line);
  }
  return lines;
}

namespace {

constexpr int kMostEvents = 256;
constexpr double kMegabyte = 1e6;

std::string slot_of(const Library& nvml, Device device) {
  PciInfo pci{};
  if (nvml.pci(device, &pci) != kSuccess) return {};
  const std::string whole = kernel_address(pci);
  return whole.substr(0, whole.rfind('.'));
}

/// Active NVLinks; nothing if the driver does not report them.
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

/// The event set, in which NVML queues events.
struct GpuMonitor::Events {
  std::shared_ptr<const Library> nvml;
  EventSet set = nullptr;
  bool lost = false;  // a call hung: no further calls

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
      address_(slot_of(*nvml_, device)),
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
