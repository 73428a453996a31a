#include "probes/backends/cuda/nvml/xid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

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

/// "0000:3b:00" at the beginning of what stands in the parentheses; "" for anything else.
std::string address_of(std::string_view text) {
  take(text, "PCI:");
  const auto bus = text.find(':');
  if (bus == std::string_view::npos || bus < 4 || text.size() < bus + 6 || text[bus + 3] != ':')
    return {};
  const std::string_view address = text.substr(0, bus + 6);
  if (!is_hex(address.substr(0, bus)) || !is_hex(address.substr(bus + 1, 2)) ||
      !is_hex(address.substr(bus + 4, 2)))
    return {};
  std::string small(address);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return small;
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
  xid.text = std::string(line.substr(0, kMostText));
  while (!xid.text.empty() && std::isspace(static_cast<unsigned char>(xid.text.back())) != 0)
    xid.text.pop_back();
  return xid;
}

}  // namespace bench::nvml
