#include "runner/hardware/hardware_check.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/text.h"

namespace bench {
namespace {

/// Datasheets round peaks to two or three digits, and L40S' bf16 is 1.2 % below its own product.
constexpr double kOfPeak = 0.02;
constexpr double kOfMemory = 0.03;
constexpr double kOfLink = 0.001;
/// No GPU of the catalogue's kind is clocked outside these.
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

  /// Half as many bits, twice as many operations: more than that is a sparse figure among dense.
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

}  // namespace bench
