// seed.*: the seeds of one run. runs_check compares those of several runs.
#include "results/mlperf/strict/seed_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include "results/mlperf/strict/subject.h"

namespace bench::mlperf {
namespace {

constexpr std::string_view kWhereSeed = "training_rules: Random numbers";

/// Parses like int(), except for non-ASCII digits and underscores.
std::optional<std::string> integer_of(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  return (negative && text != "0" ? "-" : "") + std::string(text);
}

}  // namespace

std::optional<std::string> seed_text(const PythonValue& value) {
  if (value.is_string()) return integer_of(value.text());
  if (value.is_float())
    return std::isfinite(value.number())
               ? std::optional(fmt::format("{:.0f}", std::trunc(value.number())))
               : std::nullopt;
  if (value.is_bool()) return value.truth() ? "1" : "0";
  if (value.is_int()) return value.repr();
  return std::nullopt;
}

void check_run_seeds(const Subject& subject, std::vector<Finding>& findings) {
  std::set<std::string> seeds;
  const LogEntry* first = nullptr;
  for (const LogEntry& entry : subject.log.entries) {
    if (entry.key != "seed") continue;
    if (first == nullptr) first = &entry;
    if (const auto seed = seed_text(entry.value)) {
      seeds.insert(*seed);
      continue;
    }
    Finding finding = finding_at(entry, "seed.type", Severity::error);
    finding.expected = "an integer";
    finding.found = entry.value.excerpt();
    finding.where = kWhereSeed;
    finding.text = "a seed must be an integer";
    findings.push_back(finding);
  }
  if (first == nullptr && subject.closed()) {
    Finding finding = finding_of_log("seed.missing", Severity::error);
    finding.expected = "at least one line with the key seed";
    finding.found = "none";
    finding.where = kWhereSeed;
    finding.text = "no seed is logged, which the closed division requires";
    findings.push_back(finding);
  }
  if (seeds.size() < 2) return;
  Finding finding = finding_at(*first, "seed.several", Severity::note);
  finding.expected = "one seed";
  finding.found = fmt::format("{} seeds", seeds.size());
  finding.where = kWhereSeed;
  finding.text = "the run logs several seeds, which is allowed but rarely needed";
  findings.push_back(finding);
}

}  // namespace bench::mlperf
