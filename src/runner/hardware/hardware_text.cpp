#include "runner/hardware/hardware_text.h"

#include <fmt/format.h>

#include "core/json_text.h"
#include "core/text.h"
#include "runner/hardware/hardware_check.h"
#include "runner/hardware/hardware_limits.h"
#include "runner/hardware/plausible_range.h"

namespace bench {
namespace {

std::string peak_of(const HardwareEntry& entry, const std::string& dtype) {
  const HardwarePeak* peak = entry.peak(dtype);
  return peak ? format(peak->operations_per_second, Unit::flop_per_second) : "-";
}

std::string rate(std::optional<double> value) {
  return value ? format(*value, Unit::byte_per_second) : "-";
}

std::optional<double> link_rate(const HardwareEntry& entry) {
  if (!entry.link) return {};
  return entry.link->bytes_per_second;
}

std::string host_link(const HardwareEntry& entry) {
  if (!entry.host_link) return "-";
  const HostLink& host = *entry.host_link;
  if (host.pcie_generation && host.pcie_lanes)
    return fmt::format("{} {} x{}", host.kind, *host.pcie_generation, *host.pcie_lanes);
  return host.kind;
}

std::string params_of(const Json& params) {
  std::string text;
  for (const auto& [name, value] : params.items())
    text += (text.empty() ? "" : ", ") + name + " " + text_of(value);
  return printable(text);
}

/// A fact with the unit from the end of its key.
std::string shown(const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number()) return dump(value);
  const auto number = value.get<double>();
  if (key.ends_with("bytes_per_second")) return format(number, Unit::byte_per_second);
  if (key == "bytes") return fmt::format("{:g} GB", number / 1e9);
  if (key.ends_with("_bytes")) return format(Bytes{number});
  if (key.ends_with("_hz")) return format(number, Unit::hertz);
  return fmt::format("{:g}{}", number, key.ends_with("_w") ? " W" : "");
}

std::string facts_of(const Json& part) {
  std::string text;
  for (const auto& [key, value] : part.items())
    if (!value.is_array())
      text += (text.empty() ? "" : ", ") + key + " " + printable(shown(key, value));
  return text;
}

std::string reported_line(const HardwareEntry& entry, const ReportedValue& one) {
  const Threshold threshold = threshold_from(entry, one);
  const auto limit = hardware_limit(entry, {}, one.metric, one.params);
  const std::string share =
      limit ? fmt::format("{:.1f} % of limit", 100.0 * one.value / limit->value) : "";
  std::vector<std::string> words;
  for (const std::string& word : {params_of(one.params), one.source, one.note})
    if (!word.empty()) words.push_back(printable(word));
  std::string text =
      fmt::format("  {:<26} {:>14} {:>16}  {:<9} {}\n", one.metric,
                  format(one.value, unit_of(threshold)), share, one.kind, join(words, "; "));
  if (!one.doubt.empty()) text += "      doubtful: " + printable(one.doubt) + "\n";
  return text;
}

std::string limits_text(const HardwareEntry& entry) {
  std::string text = "limits, from the datasheet alone\n";
  for (const KnownLimit& one : limits_of_eight(entry, {})) {
    const Unit unit = unit_of({one.metric, one.params});
    text += fmt::format("  {:<26} {:>14}  {}{}{}\n", one.metric, format(one.limit.value, unit),
                        params_of(one.params), one.params.empty() ? "" : ": ",
                        printable(one.limit.source));
  }
  return text;
}

std::string facts_text(const HardwareEntry& entry) {
  std::string text = fmt::format("{}: {} ({})\n", entry.name, printable(entry.product),
                                 printable(entry.architecture));
  text += "  names      " + printable(join(entry.device_names, ", ")) + "\n";
  for (const char* part : {"compute", "memory", "link", "host_link", "power"}) {
    if (!entry.json.contains(part)) continue;
    text += fmt::format("  {:<10} {}\n", part, facts_of(entry.json[part]));
  }
  if (entry.json.contains("notes"))
    text += "  note       " + printable(entry.json["notes"].get<std::string>()) + "\n";
  for (const auto& [name, document] : entry.sources)
    text += fmt::format("  {:<10} = {}\n", printable(name), printable(document));
  return text;
}

}  // namespace

std::string hardware_table(const HardwareCatalogue& catalogue) {
  constexpr auto kRow = "  {:<16} {:>14} {:>14} {:>14} {:>10} {:>12} {:>12} {:<12} {:>7}\n";
  std::string text = fmt::format(kRow, "", "f64", "f16, dense", "fp8, dense", "memory", "bandwidth",
                                 "links 1 way", "host link", "TDP");
  for (const HardwareEntry& entry : catalogue.all())
    text +=
        fmt::format(kRow, entry.name, peak_of(entry, "f64"), peak_of(entry, "f16"),
                    peak_of(entry, "fp8_e4m3"), fmt::format("{:g} GB", entry.memory.bytes / 1e9),
                    rate(entry.memory.bytes_per_second), rate(link_rate(entry)), host_link(entry),
                    entry.tdp_w ? fmt::format("{:g} W", *entry.tdp_w) : "-");
  return text;
}

std::string hardware_details(const HardwareCatalogue& catalogue, const HardwareEntry& entry) {
  std::string text = facts_text(entry) + limits_text(entry);
  text += "published results\n";
  for (const ReportedValue& one : entry.reported) text += reported_line(entry, one);
  if (entry.reported.empty()) text += "  none\n";
  for (const Finding& finding : contradictions_in(entry))
    text += "  contradiction: " + printable(finding.text) + "\n";
  for (const Finding& finding : check_hardware(catalogue, entry))
    text += fmt::format("implausible ({}): {}\n", to_string(finding.kind), printable(finding.text));
  return text;
}

}  // namespace bench
