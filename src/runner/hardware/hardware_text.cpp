#include "runner/hardware/hardware_text.h"

#include <fmt/format.h>

#include <cmath>

#include "core/json.h"
#include "core/text.h"
#include "runner/hardware/hardware_limits.h"
#include "runner/hardware/plausibility.h"

namespace bench {
namespace {

/// Datasheets round peaks to two or three digits, and the L40S's bf16 is 1.2 % below its product.
constexpr double kOfPeak = 0.02;
constexpr double kOfMemory = 0.03;
constexpr double kOfLink = 0.001;
/// No GPU of the catalogue has a clock outside these.
constexpr double kSlowestClock = 0.8e9, kFastestClock = 3.0e9;

bool near(double a, double b, double tolerance) { return std::abs(a / b - 1.0) <= tolerance; }

class EntryCheck {
 public:
  explicit EntryCheck(const HardwareEntry& entry) : entry_(entry) {}

  void peaks() {
    for (std::size_t i = 0; i < entry_.peaks.size(); ++i) {
      const std::string at = fmt::format("/compute/peaks/{}", i);
      product_of(entry_.peaks[i], at);
      against_wider(entry_.peaks[i], at);
    }
  }

  void memory() {
    const HardwareMemory& memory = entry_.memory;
    if (!memory.bytes_per_second || !memory.bus_bits || !memory.clock_hz) return;
    const double expected = *memory.bus_bits / 8.0 * 2.0 * *memory.clock_hz;
    if (near(*memory.bytes_per_second, expected, kOfMemory)) return;
    add(kind_of(*memory.bytes_per_second / expected, FindingKind::above_peak),
        "/memory/bandwidth_bytes_per_second", *memory.bytes_per_second,
        "bus_bits / 8 x 2 x clock_hz", expected, Unit::byte_per_second);
  }

  void link() {
    if (!entry_.link) return;
    const HardwareLink& link = *entry_.link;
    const double expected = link.links * link.link_bytes_per_second;
    if (near(link.bytes_per_second, expected, kOfLink)) return;
    const double ratio = link.bytes_per_second / expected;
    add(near(ratio, 2.0, kOfLink) ? FindingKind::above_link
                                  : kind_of(ratio, FindingKind::above_link),
        "/link/bytes_per_second", link.bytes_per_second,
        near(ratio, 2.0, kOfLink) ? "both directions are added here; links x link_bytes_per_second"
                                  : "links x link_bytes_per_second",
        expected, Unit::byte_per_second);
  }

  std::vector<Finding> findings;

 private:
  void add(FindingKind kind, const std::string& at, double seen, const std::string& rule,
           double expected, Unit unit) {
    findings.push_back({kind, fmt::format("{}: {}: {}, but {} = {}", entry_.name, at,
                                          format(seen, unit), rule, format(expected, unit))});
  }

  FindingKind kind_of(double ratio, FindingKind otherwise) const {
    const double power = std::round(std::log10(ratio));
    if (power == 0.0 || !near(ratio, std::pow(10.0, power), kOfMemory)) return otherwise;
    return std::fmod(power, 3.0) == 0.0 ? FindingKind::unit : FindingKind::power_of_ten;
  }

  FindingKind of_peak(double ratio) const {
    const bool doubled = entry_.sparsity_factor > 1 && near(ratio, entry_.sparsity_factor, 0.05);
    return doubled ? FindingKind::sparse : kind_of(ratio, FindingKind::above_peak);
  }

  void product_of(const HardwarePeak& peak, const std::string& at) {
    if (!entry_.multiprocessors || !peak.operations_per_cycle) return;
    const double per_cycle = *entry_.multiprocessors * *peak.operations_per_cycle;
    const double clock = peak.clock_hz.value_or(peak.operations_per_second / per_cycle);
    if (peak.clock_hz && !near(peak.operations_per_second, per_cycle * clock, kOfPeak))
      add(of_peak(peak.operations_per_second / (per_cycle * clock)), at, peak.operations_per_second,
          "multiprocessors x operations_per_cycle x clock_hz", per_cycle * clock,
          Unit::op_per_second);
    if (clock < kSlowestClock || clock > kFastestClock)
      findings.push_back(
          {clock > kFastestClock ? FindingKind::above_peak : FindingKind::too_low,
           fmt::format("{}: {}: {} for {} operations a cycle would be a clock of {}", entry_.name,
                       at, format(peak.operations_per_second, Unit::op_per_second), per_cycle,
                       format(clock, Unit::hertz))});
  }

  /// Half the bits allow twice the operations; more is a sparse figure among dense ones.
  void against_wider(const HardwarePeak& peak, const std::string& at) {
    static const std::map<std::string, double> kBits = {
        {"tf32", 32},    {"bf16", 16}, {"f16", 16}, {"fp8_e4m3", 8},
        {"fp8_e5m2", 8}, {"int8", 8},  {"fp4", 4}};
    const auto bits = kBits.find(peak.dtypes.front());
    if (bits == kBits.end() || peak.pipe != "tensor") return;
    for (const HardwarePeak& wider : entry_.peaks) {
      const auto more = kBits.find(wider.dtypes.front());
      if (more == kBits.end() || wider.pipe != "tensor" || more->second <= bits->second) continue;
      const double expected = wider.operations_per_second * more->second / bits->second;
      if (peak.operations_per_second > expected * (1.0 + 0.05))
        return add(
            of_peak(peak.operations_per_second / expected), at, peak.operations_per_second,
            fmt::format("that of {} x {} / {} bits", more->first, more->second, bits->second),
            expected, Unit::op_per_second);
    }
  }

  const HardwareEntry& entry_;
};

}  // namespace

Threshold threshold_from(const HardwareEntry& entry, const ReportedValue& reported) {
  return {reported.metric, reported.params, reported.value, entry.name, true, reported.source};
}

std::vector<Finding> check_hardware(const HardwareCatalogue& catalogue,
                                    const HardwareEntry& entry) {
  EntryCheck check(entry);
  check.peaks();
  check.memory();
  check.link();
  for (std::size_t i = 0; i < entry.reported.size(); ++i) {
    if (!entry.reported[i].doubt.empty()) continue;
    if (auto finding = check_threshold(catalogue, threshold_from(entry, entry.reported[i])))
      check.findings.push_back(
          {finding->kind, fmt::format("{}: /reported/{}: {}", entry.name, i, finding->text)});
  }
  return std::move(check.findings);
}

std::vector<Finding> contradictions_in(const HardwareEntry& entry) {
  std::map<std::string, std::vector<Threshold>> projects;
  for (const ReportedValue& one : entry.reported)
    if (one.kind == "threshold")
      projects[one.source.substr(0, one.source.find(','))].push_back(threshold_from(entry, one));
  std::vector<Finding> findings;
  for (const auto& [project, thresholds] : projects)
    for (Finding& finding : contradictions(thresholds)) findings.push_back(std::move(finding));
  return findings;
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
          {"link_bytes_per_second", entry.link ? Json(entry.link->bytes_per_second) : Json()},
          {"host_link", entry.json.value("host_link", Json())},
          {"tdp_w", known(entry.tdp_w)}};
}

Json hardware_document(const HardwareCatalogue& catalogue, const HardwareEntry& entry) {
  Json document = entry.json;
  document["limits"] = Json::array();
  for (const KnownLimit& known : limits_of_eight(entry, {})) {
    document["limits"].push_back(to_json(known.limit));
    document["limits"].back()["metric"] = known.metric;
    document["limits"].back()["params"] = known.params;
  }
  document["findings"] = Json::array();
  for (const Finding& finding : check_hardware(catalogue, entry))
    document["findings"].push_back({{"kind", to_string(finding.kind)}, {"text", finding.text}});
  document["contradictions"] = Json::array();
  for (const Finding& finding : contradictions_in(entry))
    document["contradictions"].push_back(finding.text);
  return document;
}

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
