#include "results/output/mlperf/score_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace bench::mlperf {
namespace {

const ScoredRun* with_use(const EntryScore& entry, RunUse use) {
  const auto found = std::ranges::find(entry.runs, use, &ScoredRun::use);
  return found == entry.runs.end() ? nullptr : &*found;
}

std::string dropped_text(const EntryScore& entry) {
  std::vector<std::string> dropped;
  if (const ScoredRun* run = with_use(entry, RunUse::fastest))
    dropped.push_back("the fastest (" + format_minutes(run->minutes) + ")");
  if (const ScoredRun* run = with_use(entry, RunUse::slowest))
    dropped.push_back("the slowest (" + format_minutes(run->minutes) + ")");
  if (with_use(entry, RunUse::failed) != nullptr) dropped.emplace_back("the failed run");
  return dropped.empty() ? "" : ", without " + join(dropped, " and ");
}

}  // namespace

std::string format_minutes(double minutes) {
  // Times are whole milliseconds, so many are exactly halfway except for rounding errors: 599,673
  // ms are 9.99455 minutes.
  if (!std::isfinite(minutes)) return "";
  const double clean = std::round(minutes * 1e8) / 1e4;
  return fmt::format("{:.4f}", std::round(clean) / 1e4);
}

std::string entry_name(const EntryScore& entry) {
  std::vector<std::string> parts;
  for (const std::string& part : {entry.submitter, entry.system, entry.benchmark})
    if (!part.empty()) parts.push_back(part);
  return entry.system.empty() ? entry.benchmark + " in " + entry.folder.string()
                              : join(parts, "  ");
}

std::string mean_text(const EntryScore& entry) {
  const auto chosen =
      std::ranges::count_if(entry.runs, [](const auto& run) { return run.use != RunUse::outside; });
  const auto counted = std::ranges::count(entry.runs, RunUse::counted, &ScoredRun::use);
  if (std::isnan(entry.olympic_mean_minutes)) return "";
  return fmt::format("mean of {} of {} runs{}", counted, chosen, dropped_text(entry));
}

std::string window_text(const EntryScore& entry) {
  if (!entry.window) return "";
  std::vector<std::string> files, means;
  for (const std::size_t run : entry.window->runs)
    files.push_back(entry.runs[run].read.file.filename().string());
  for (const double mean : entry.window->means)
    means.push_back(std::isfinite(mean) ? format_minutes(mean) : "invalid");
  return fmt::format(
      "{1} consecutive runs of {0} are scored, those with the median of {2} "
      "means: {3}. Submit: {4}",
      entry.runs.size(), entry.window->runs.size(), means.size(), join(means, ", "),
      join(files, ", "));
}

std::string what_if_text(const EntryScore& entry, const WhatIf& what_if) {
  const RcpTest& test = what_if.test;
  std::string words = fmt::format("{}: {}", to_string(test.reference.match), test.why);
  if (std::isfinite(what_if.minutes_at_reference))
    words += fmt::format(
        "; with the reference's convergence and the throughput of these runs, the "
        "time would be {} minutes instead of {}",
        format_minutes(what_if.minutes_at_reference), format_minutes(entry.olympic_mean_minutes));
  return words;
}

std::string factor_text(const EntryScore& entry) {
  std::string words = fmt::format("{:.6f}", entry.scaling_factor);
  const double own = entry.rcp ? entry.rcp->factor : 1.0;
  if (!entry.file_factor)
    return words + (own > 1.0 ? " (reference mean / mean; no scaling.json)" : "");
  const bool same = std::abs(*entry.file_factor - own) <= 1e-9 * own;
  return words + (same ? " (scaling.json agrees)"
                       : fmt::format(" (from scaling.json; these runs give {:.6f})", own));
}

const EntryScore* entry_at(const SubmissionScore& score, const SystemRow& row,
                           const std::string& benchmark) {
  for (const std::size_t entry : row.entries)
    if (score.entries[entry].benchmark == benchmark) return &score.entries[entry];
  return nullptr;
}

}  // namespace bench::mlperf
