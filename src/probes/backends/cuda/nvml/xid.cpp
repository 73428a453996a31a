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
    {13, false, "a kernel did something invalid"},
    {31, false, "a kernel used an invalid address"},
    {32, false, "a corrupted push buffer, mostly of the PCIe link"},
    {43, false, "a kernel met a software fault and was ended"},
    {45, false, "work was removed after an earlier error or an end by force"},
    {46, true, "the GPU stopped processing"},
    {48, true, "an uncorrectable memory error (double bit)"},
    {54, false, "auxiliary power is not connected"},
    {62, true, "the power controller halted"},
    {63, false, "a row of memory was marked to be remapped"},
    {64, true, "a row of memory could not be remapped"},
    {74, true, "an NVLink error"},
    {79, true, "the GPU has fallen off the bus"},
    {92, false, "many correctable memory errors"},
    {94, true, "an uncorrectable memory error of this program (contained)"},
    {95, true, "an uncorrectable memory error of all programs (uncontained)"},
    {109, true, "a context switch timed out"},
    {110, true, "a security fault, mostly of the hardware"},
    {119, true, "the GPU's system processor did not answer"},
    {120, true, "the GPU's system processor failed"},
    {121, false, "corrected errors on NVLink-C2C"},
    {136, true, "an NVLink could not be trained"},
    {137, false, "an illegal access over NVLink"},
    {140, true, "uncorrectable memory errors that could not be recovered"},
    {143, true, "the GPU could not be initialised"},
    {154, false, "the driver changed its advice on how to recover"},
    {156, true, "a part of the GPU was retired"},
    {157, false, "a part of the GPU could not be retired"},
    {158, true, "a fatal timeout"},
    {167, true, "a fatal timeout of the PCIe link"},
    {171, true, "an uncorrectable error in the GPU's DRAM"},
    {172, true, "an uncorrectable error in the GPU's SRAM"},
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

DeviceFault describe_xid(unsigned number, const std::string& told) {
  const auto found = std::find_if(kMeanings.begin(), kMeanings.end(),
                                  [&](const Meaning& one) { return one.number == number; });
  const bool known = found != kMeanings.end();
  std::string text = fmt::format("Xid {}", number);
  if (known) text += std::string(": ") + found->words;
  if (!told.empty()) text += (known ? " (" : ": ") + told + (known ? ")" : "");
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
