#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/fleet/fleet_output.h"

namespace bench {

std::string summary_words(const FleetReport& report) {
  std::size_t passed = 0, failed = 0, repeating = 0, expired = 0;
  for (const FleetHostReport& host : report.hosts) {
    passed += host.verdict == Verdict::pass ? 1 : 0;
    failed += host.verdict == Verdict::fail ? 1 : 0;
    repeating += host.repeat_failures ? 1 : 0;
    expired += host.expired ? 1 : 0;
  }
  std::string text = fmt::format("{} hosts: {} pass, {} fail, {} inconclusive", report.hosts.size(),
                                 passed, failed, report.hosts.size() - passed - failed);
  if (expired > 0) text += fmt::format("; {} with expired verdicts", expired);
  if (repeating > 0) text += fmt::format("; {} with repeat failures", repeating);
  return text;
}

std::string incident_text(const FleetHostReport& host, const FleetSettings& settings) {
  if (host.incidents.empty()) return "";
  return fmt::format("failed on {} of the last {:g} days; p = {:.1g} at the other hosts' rate",
                     host.incidents.size(), settings.incident_days, host.repeat_p);
}

std::string date_text(std::int64_t time_ns) {
  return time_ns == 0 ? "" : format_time(time_ns).substr(0, 10);
}

double relative_loss(const FleetReport& report, const FleetRow& row) {
  const double lost = std::fmax(row.loss, row.golden_loss);
  return lost / report.series[row.series].threshold;
}

}  // namespace bench
