#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/json_text.h"
#include "core/text.h"
#include "results/regression/regression_output.h"

namespace bench {
namespace {

std::string signed_percent(double share) { return fmt::format("{:+.1f}", 100.0 * share); }

}  // namespace

std::string effect_words(const ChangeFinding& finding) {
  if (!std::isfinite(finding.low) || !std::isfinite(finding.high))
    return signed_percent(finding.effect) + " %";
  return fmt::format("{} % [{}, {}]", signed_percent(finding.effect), signed_percent(finding.low),
                     signed_percent(finding.high));
}

std::string between_words(const ChangeFinding& finding) {
  if (finding.since_low.number == finding.since_high.number) return "";
  return finding.since_low.id + " to " + finding.since_high.id;
}

std::string since_words(const ChangeFinding& finding) {
  std::string words = "since " + finding.since.id;
  if (const std::string between = between_words(finding); !between.empty())
    words += " (" + between + ")";
  if (finding.until.number != 0) words += ", recovered since " + finding.until.id;
  return words;
}

std::string place_words(const ChangeFinding& finding) {
  const std::string where = finding.key.host.empty() ? "fleet" : finding.key.host;
  return finding.key.device.empty() || finding.key.device == "host"
             ? where
             : where + " " + finding.key.device;
}

std::string params_words(const Json& params) {
  std::vector<std::string> words;
  for (const auto& [name, value] : params.items()) words.push_back(name + "=" + text_of(value));
  return join(words, " ");
}

std::vector<std::string> host_summary_lines(const RegressionReport& report) {
  std::map<std::pair<std::string, std::string>, std::size_t> metrics;
  for (const ChangeFinding& finding : report.findings)
    if (finding.fails())
      ++metrics[{finding.key.host.empty() ? "fleet" : finding.key.host, finding.since.id}];
  std::vector<std::string> lines;
  for (const auto& [place, count] : metrics)
    if (count > 1)
      lines.push_back(fmt::format("{}: {} findings since {}", place.first, count, place.second));
  return lines;
}

std::string summary_words(const RegressionReport& report) {
  std::size_t found = 0;
  for (const FindingFamily& family : report.families) found += family.found;
  std::string words =
      fmt::format("{} series judged, {} missing in the newest night, {} too short to judge",
                  report.tested, report.missing, report.too_short);
  if (found > 0)
    words += fmt::format("; {} findings at q = {}, of which up to {:.1f} may be false", found, report.q,
                         report.q * static_cast<double>(found));
  return words;
}

}  // namespace bench
