#include "mlperf/strict/runs_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/json.h"
#include "core/text.h"
#include "mlperf/strict/subject.h"

namespace bench::mlperf {
namespace {

// seed.*: the seeds of one run. runs_check compares those of several runs.

constexpr std::string_view kWhereSeed = "training_rules: Random numbers";

/// Parses like int(), except for non-ASCII digits and underscores.
std::optional<std::string> integer_of(std::string_view text) {
  text = trim(text);
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
    add_finding(findings, &entry, "seed.type", Severity::error,
                {"an integer", entry.value.excerpt(), "a seed must be an integer", kWhereSeed});
  }
  if (first == nullptr && subject.closed()) {
    add_finding(findings, nullptr, "seed.missing", Severity::error,
                {"at least one line with the key seed", "none",
                 "no seed is logged, which the closed division requires", kWhereSeed});
  }
  if (seeds.size() < 2) return;
  add_finding(findings, first, "seed.several", Severity::note,
              {"one seed", fmt::format("{} seeds", seeds.size()),
               "the run logs several seeds, which is allowed but rarely needed", kWhereSeed});
}

namespace {

bool is_setting(std::string_view key) {
  constexpr std::array kKeys = {"global_batch_size",   "gradient_accumulation_steps",
                                "max_sequence_length", "lora_rank",
                                "lora_alpha",          "max_steps",
                                "eval_samples"};
  return key.starts_with("opt_") || std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

std::string setting_text(const PythonValue& value) {
  return value.is_number() ? number_text(value.number()) : value.excerpt();
}

/// The most common value among the runs; on a tie, that of the earlier run.
std::string most_frequent_setting(std::span<const RunExtract> runs, const std::string& key) {
  std::map<std::string, int> counts;
  for (const RunExtract& run : runs)
    if (const auto at = run.settings.find(key); at != run.settings.end())
      ++counts[at->second.value];
  std::string best;
  for (const RunExtract& run : runs) {
    const auto at = run.settings.find(key);
    if (at != run.settings.end() && (best.empty() || counts[at->second.value] > counts[best]))
      best = at->second.value;
  }
  return best;
}

void check_settings(std::span<const RunExtract> runs, std::vector<RunFinding>& findings) {
  std::map<std::string, std::string> usual;
  for (const RunExtract& run : runs)
    for (const auto& [key, setting] : run.settings)
      if (!usual.contains(key)) usual[key] = most_frequent_setting(runs, key);
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const auto& [key, setting] : runs[i].settings) {
      if (setting.value == usual[key]) continue;
      findings.push_back({i,
                          {.rule = "runs.hyperparameters",
                           .severity = Severity::warning,
                           .line = setting.line,
                           .column = setting.column,
                           .key = printable(key),
                           .expected = usual[key] + ", as in other runs of this result",
                           .found = setting.value,
                           .text = "the runs of a result must have the same hyperparameters: " +
                                   printable(key) + " differs",
                           .where = "training_rules: Benchmark Results"}});
    }
}

void check_seeds(std::span<const RunExtract> runs, std::vector<RunFinding>& findings) {
  using Place = std::tuple<std::string, std::string, std::string>;
  std::map<Place, std::size_t> first;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].facts.division != "closed") continue;
    for (const Seed& seed : runs[i].facts.seeds) {
      const std::optional<std::string> text = seed_text(seed.value);
      if (!text || !seed.has_place) continue;
      const auto [at, is_new] = first.emplace(Place{seed.file, seed.code_line, *text}, i);
      if (is_new || at->second == i) continue;
      findings.push_back({i,
                          {.rule = "seed.repeated",
                           .severity = Severity::error,
                           .line = seed.line,
                           .key = "seed",
                           .expected = "a seed that no other run has",
                           .found = printable(*text),
                           .text = fmt::format("{} logs the same seed at {}:{}",
                                               printable(runs[at->second].path.native()),
                                               printable(seed.file), printable(seed.code_line)),
                           .where = "training_rules: Random numbers"}});
    }
  }
}

bool same_bytes(const RunExtract& a, const RunExtract& b) {
  return a.bytes == b.bytes && a.digest == b.digest && read_file(a.path) == read_file(b.path);
}

}  // namespace

RunExtract extract_run(const Log& log, RunFacts facts) {
  RunExtract run{.path = log.path, .bytes = log.bytes, .digest = log.digest};
  run.facts = std::move(facts);
  for (const LogEntry& entry : log.entries)
    if (is_setting(entry.key))
      run.settings[entry.key] = {setting_text(entry.value), entry.line, entry.column};
  return run;
}

std::vector<RunFinding> check_runs(std::span<const RunExtract> runs) {
  std::vector<RunFinding> findings;
  check_settings(runs, findings);
  check_seeds(runs, findings);
  return findings;
}

std::vector<RunFinding> check_copies(std::span<const RunExtract> runs) {
  std::map<std::pair<Digest, std::int64_t>, std::size_t> first;
  std::vector<RunFinding> findings;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].bytes == 0) continue;
    const auto [at, is_new] = first.emplace(std::pair(runs[i].digest, runs[i].bytes), i);
    if (is_new || !same_bytes(runs[at->second], runs[i])) continue;
    const RunExtract& other = runs[at->second];
    const bool same_folder = other.path.parent_path() == runs[i].path.parent_path();
    findings.push_back(
        {i,
         {.rule = "copy.log",
          .severity = Severity::error,
          .expected = "a unique log",
          .found = "a byte-for-byte copy of " + printable(other.path.native()),
          .text = same_folder ? "one run is counted twice: the two files are identical"
                              : "one run is used in two results: the two files are identical",
          .where = "training_rules: Scoring"}});
  }
  return findings;
}

std::vector<RunFinding> check_overlaps(std::span<const RunExtract* const> runs) {
  const auto known = [](const RunExtract& run) {
    return run.facts.run_start_ms && run.facts.run_stop_ms &&
           *run.facts.run_stop_ms > *run.facts.run_start_ms;
  };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (known(*runs[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return *runs[a]->facts.run_start_ms < *runs[b]->facts.run_start_ms;
  });
  std::vector<RunFinding> findings;
  std::size_t longest = 0;  // index in `order` of the run with the latest end so far
  for (std::size_t k = 1; k < order.size(); ++k) {
    const RunExtract &run = *runs[order[k]], &before = *runs[order[longest]];
    const double common = *before.facts.run_stop_ms - *run.facts.run_start_ms;
    if (common > 0 && !(before.digest == run.digest && before.bytes == run.bytes))
      findings.push_back(
          {order[k],
           {.rule = "runs.overlap",
            .severity = Severity::note,
            .line = run.facts.run_start_line,
            .key = "run_start",
            .expected = "no overlap, or separate hosts",
            .found = fmt::format(
                "{:.1f} minutes of overlap",
                std::fmin(common, *run.facts.run_stop_ms - *run.facts.run_start_ms) / 60000),
            .text = fmt::format(
                "the run overlaps in time with {}: concurrent runs must not share hosts",
                printable(before.path.native())),
            .where = "training_rules: Scoring"}});
    if (*run.facts.run_stop_ms > *runs[order[longest]]->facts.run_stop_ms) longest = k;
  }
  return findings;
}

}  // namespace bench::mlperf
