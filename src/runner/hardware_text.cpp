#include "runner/hardware_text.h"

#include <fmt/format.h>

#include "core/text.h"
#include "runner/hardware_check.h"
#include "runner/hardware_limits.h"
#include "runner/plausible_range.h"

namespace bench {
namespace {

/// What is shown of limits: one of each kind, on eight devices of one node.
std::vector<Threshold> questions(const HardwareEntry& entry) {
  std::vector<Threshold> asked;
  const auto ask = [&](const char* metric, const Json& params) {
    asked.push_back({metric, params, 0.0, entry.name});
  };
  for (const char* dtype :
       {"f64", "f32", "tf32", "bf16", "f16", "fp8_e4m3", "fp8_e5m2", "fp4", "int8"})
    ask("gemm.throughput", {{"dtype", dtype}});
  ask("memory_bandwidth.bandwidth", Json::object());
  for (const char* direction : {"h2d", "d2h", "p2p"})
    ask("copy.bandwidth", {{"direction", direction}});
  for (const char* op : {"all_reduce", "all_gather"})
    ask("collective.busbw", {{"op", op}, {"ranks", 8}});
  return asked;
}

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
    text += (text.empty() ? "" : ", ") + name + " " +
            (value.is_string() ? value.get<std::string>() : dump(value));
  return printable(text);
}

/// A fact with its unit, which stands at the end of its key.
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
  if (!one.doubt.empty()) text += "      not to be believed: " + printable(one.doubt) + "\n";
  return text;
}

std::string limits_text(const HardwareEntry& entry) {
  std::string text = "limits, before anything is read from a device\n";
  for (const Threshold& asked : questions(entry))
    if (const auto limit = hardware_limit(entry, {}, asked.metric, asked.params))
      text += fmt::format("  {:<26} {:>14}  {}{}{}\n", asked.metric,
                          format(limit->value, unit_of(asked)), params_of(asked.params),
                          asked.params.empty() ? "" : ": ", printable(limit->source));
  return text;
}

std::string facts_text(const HardwareEntry& entry) {
  std::string text = fmt::format("{}: {} ({})\n", entry.name, printable(entry.product),
                                 printable(entry.architecture));
  text += "  called     " + printable(join(entry.device_names, ", ")) + "\n";
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
                                 "links 1 way", "to the host", "TDP");
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
  text += "reported by others\n";
  for (const ReportedValue& one : entry.reported) text += reported_line(entry, one);
  if (entry.reported.empty()) text += "  nothing\n";
  for (const Finding& finding : check_hardware(catalogue, entry))
    text += fmt::format("implausible ({}): {}\n", to_string(finding.kind), printable(finding.text));
  return text;
}

Json hardware_summary(const HardwareEntry& entry) {
  Json peaks = Json::object();
  for (const HardwarePeak& peak : entry.peaks)
    for (const std::string& dtype : peak.dtypes)
      peaks[dtype] = entry.peak(dtype)->operations_per_second;
  const auto known = [](std::optional<double> value) { return value ? Json(*value) : Json(); };
  return {{"hardware", entry.name},
          {"product", entry.product},
          {"description", entry.product},
          {"operations_per_second", peaks},
          {"memory_bytes", entry.memory.bytes},
          {"memory_bytes_per_second", known(entry.memory.bytes_per_second)},
          {"link_bytes_per_second", known(link_rate(entry))},
          {"host_link", entry.host_link ? Json(host_link(entry)) : Json()},
          {"tdp_w", known(entry.tdp_w)}};
}

Json hardware_document(const HardwareCatalogue& catalogue, const HardwareEntry& entry) {
  Json document = entry.json;
  document["limits"] = Json::array();
  for (const Threshold& asked : questions(entry))
    if (const auto limit = hardware_limit(entry, {}, asked.metric, asked.params)) {
      Json one = to_json(*limit);
      one["metric"] = asked.metric;
      one["params"] = asked.params;
      document["limits"].push_back(std::move(one));
    }
  document["findings"] = Json::array();
  for (const Finding& finding : check_hardware(catalogue, entry))
    document["findings"].push_back({{"kind", to_string(finding.kind)}, {"text", finding.text}});
  return document;
}

}  // namespace bench
