#include "results/verdicts/published/published_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "results/verdicts/published/published_import.h"

namespace bench::mlperf {
namespace {

constexpr const char* kScored = "mlperf.scored_time";

/// The comparable entries of one side by benchmark and division.
using ByBenchmark =
    std::map<std::pair<std::string, std::string>, std::vector<const PublishedEntry*>>;

ByBenchmark comparable(const PublishedSide& side) {
  ByBenchmark found;
  for (const PublishedEntry& entry : side.entries)
    if (entry.score_minutes > 0.0 && accelerators_of(entry) > 0.0)
      found[{entry.benchmark, entry.division}].push_back(&entry);
  if (found.empty())
    throw Error(
        ErrorKind::input,
        "'" + printable(side.name) +
            "' selects no result that has a score, a number of accelerators, and logs of its own",
        "list the results with `benchctl mlperf compare PATH`");
  return found;
}

// Copies of logs.

std::set<Digest> digests_of(const PublishedSide& side) {
  std::set<Digest> all;
  for (const PublishedEntry& entry : side.entries)
    for (const PublishedRun& run : entry.runs)
      if (run.digest != 0) all.insert(run.digest);
  return all;
}

std::set<Digest> common(const std::set<Digest>& a, const std::set<Digest>& b) {
  std::set<Digest> both;
  std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
  return both;
}

/// The side without results that have logs which are `seen`, or are in an earlier result: with some
/// of its runs a result has another score.
PublishedSide without_copies(PublishedSide side, std::set<Digest> seen,
                             std::vector<std::string>& warnings) {
  std::erase_if(side.entries, [&](const PublishedEntry& entry) {
    const auto copies = std::ranges::count_if(entry.runs, [&](const PublishedRun& run) {
      return run.digest != 0 && !seen.insert(run.digest).second;
    });
    if (copies > 0)
      warnings.push_back(
          fmt::format("{} is left out: {} of its {} logs are copies of others in "
                      "this comparison",
                      entry_label(entry), copies, entry.runs.size()));
    return copies > 0;
  });
  return side;
}

/// Results of one benchmark and size, which the other side has too, are pooled: a warning where
/// their accelerators differ.
void add_pooled(const ByBenchmark& side, const std::string& name, const ByBenchmark& other,
                std::vector<std::string>& warnings) {
  for (const auto& [benchmark, entries] : side) {
    const auto compared = other.find(benchmark);
    if (compared == other.end()) continue;
    std::map<double, std::set<std::string>> models;  // by number of accelerators
    for (const PublishedEntry* entry : entries)
      models[accelerators_of(*entry)].insert(printable(hardware_name(*entry)));
    for (const auto& [count, names] : models)
      if (names.size() > 1 && std::ranges::find(compared->second, count, [](const auto* entry) {
                                return accelerators_of(*entry);
                              }) != compared->second.end())
        warnings.push_back(fmt::format(
            "'{}' pools {} models with {:g} accelerators in {} ({}): choose one by its words",
            printable(name), names.size(), count, printable(benchmark.first),
            join(std::vector<std::string>(names.begin(), names.end()), ", ")));
  }
}

/// One row per counted run, in the format of `export jsonl`.
std::vector<Json> rows_of_side(const ByBenchmark& side) {
  std::vector<Json> rows;
  for (const auto& [name, entries] : side)
    for (const PublishedEntry* entry : entries) {
      const std::string host = host_of_system(entry->submitter, entry->system);
      const auto accelerators = static_cast<int>(accelerators_of(*entry));
      Json params = {{"benchmark", name.first}, {"accelerators", accelerators}};
      if (name.second != "closed") params["division"] = name.second;
      const auto seconds = counted_seconds(*entry);
      for (std::size_t i = 0; i < seconds.size(); ++i)
        rows.push_back({{"run", "run " + std::to_string(i)},
                        {"metric", kScored},
                        {"params", params},
                        {"unit", "s"},
                        {"better", "lower"},
                        {"host", host},
                        {"device", "accelerator"},
                        {"ranks", accelerators},
                        {"over", "max"},
                        {"value", seconds[i] * entry->scaling_factor}});
    }
  return rows;
}

double distance(const PublishedEntry& a, const PublishedEntry& b) {
  return std::abs(std::log(accelerators_of(a) / accelerators_of(b)));
}

/// The pair nearest in size; on a tie, the fastest.
std::pair<const PublishedEntry*, const PublishedEntry*> nearest_pair(
    const std::vector<const PublishedEntry*>& a, const std::vector<const PublishedEntry*>& b) {
  std::pair<const PublishedEntry*, const PublishedEntry*> best{nullptr, nullptr};
  const auto order = [](const PublishedEntry& of_a, const PublishedEntry& of_b) {
    return std::pair(distance(of_a, of_b), of_a.score_minutes + of_b.score_minutes);
  };
  for (const PublishedEntry* of_a : a)
    for (const PublishedEntry* of_b : b)
      if (best.first == nullptr || order(*of_a, *of_b) < order(*best.first, *best.second))
        best = {of_a, of_b};
  return best;
}

LogMean accelerator_seconds(const PublishedEntry& entry) {
  std::vector<double> seconds = counted_seconds(entry);
  for (double& one : seconds) one *= entry.scaling_factor * accelerators_of(entry);
  return log_mean(seconds);
}

/// Welch's interval of the logarithms, centred on the ratio of the scores.
PerAccelerator per_accelerator(const PublishedEntry& a, const PublishedEntry& b) {
  PerAccelerator found;
  found.benchmark = a.benchmark;
  found.system_a = a.submitter + " " + a.system;
  found.system_b = b.submitter + " " + b.system;
  found.accelerators_a = accelerators_of(a);
  found.accelerators_b = accelerators_of(b);
  const Ratio by_runs = ratio_of(accelerator_seconds(b), accelerator_seconds(a));
  const double value = accelerator_minutes(b) / accelerator_minutes(a);
  const double shift = value / by_runs.value;
  found.ratio = {value, by_runs.low * shift, by_runs.high * shift};
  return found;
}

double or_last(double score) { return std::isfinite(score) ? score : HUGE_VAL; }

void set_per_accelerator(RankedBenchmark& ranked) {
  double least = HUGE_VAL;
  for (const RankedEntry& one : ranked.entries)
    if (one.accelerator_minutes < least) least = one.accelerator_minutes;
  for (RankedEntry& one : ranked.entries) one.per_accelerator = one.accelerator_minutes / least;
}

void set_costs(RankedBenchmark& ranked, const Prices& prices) {
  constexpr double kMinutesOfHour = 60.0;
  double least = HUGE_VAL;
  for (RankedEntry& one : ranked.entries) {
    const auto price = price_of(
        prices, [&](const std::string& words) { return names_accelerator(one.entry, words); });
    one.cost = one.accelerator_minutes / kMinutesOfHour * price.value_or(kNoValue);
    if (one.cost < least) least = one.cost;
  }
  for (RankedEntry& one : ranked.entries) one.cost_ratio = one.cost / least;
}

}  // namespace

bool names_accelerator(const PublishedEntry& entry, const std::string& words) {
  constexpr std::string_view kBetween = " -_/()[],";
  const std::string name = to_lower(hardware_name(entry)), asked = to_lower(words);
  const auto of_name = words_of(name, kBetween);
  return std::ranges::all_of(words_of(asked, kBetween), [&](std::string_view word) {
    return std::ranges::any_of(of_name,
                               [&](std::string_view one) { return one.starts_with(word); });
  });
}

std::vector<RankedBenchmark> ranked_benchmarks(const std::vector<PublishedEntry>& entries,
                                               const Prices& prices) {
  std::map<std::pair<std::string, std::string>, RankedBenchmark> found;
  for (const PublishedEntry& entry : entries) {
    RankedBenchmark& ranked = found[{entry.benchmark, entry.division}];
    ranked.benchmark = entry.benchmark;
    ranked.division = entry.division;
    ranked.entries.push_back({entry, accelerator_minutes(entry)});
  }
  std::vector<RankedBenchmark> list;
  for (auto& [name, ranked] : found) {
    std::ranges::stable_sort(ranked.entries, {}, [](const RankedEntry& one) {
      return or_last(one.entry.score_minutes);
    });
    set_per_accelerator(ranked);
    set_costs(ranked, prices);
    list.push_back(std::move(ranked));
  }
  return list;
}

ExitCode PublishedComparison::exit_code() const {
  const ExitCode code = comparison.exit_code();
  return code == ExitCode::not_measured && !unequal.empty() ? ExitCode::ok : code;
}

PublishedComparison compare_published(const PublishedSide& all_of_a, const PublishedSide& all_of_b,
                                      const CompareOptions& options) {
  PublishedComparison found{.a = all_of_a.name, .b = all_of_b.name};
  const std::set<Digest> shared = common(digests_of(all_of_a), digests_of(all_of_b));
  const PublishedSide a = without_copies(all_of_a, shared, found.warnings);
  const PublishedSide b = without_copies(all_of_b, shared, found.warnings);
  const ByBenchmark of_a = comparable(a), of_b = comparable(b);
  add_pooled(of_a, a.name, of_b, found.warnings);
  add_pooled(of_b, b.name, of_a, found.warnings);
  found.comparison = compare(side_of_rows(rows_of_side(of_a), a.name, {}),
                             side_of_rows(rows_of_side(of_b), b.name, {}), options);
  double logs = 0.0;
  for (const auto& [name, entries] : of_a) {
    const auto other = of_b.find(name);
    if (other == of_b.end()) continue;
    const auto [one, two] = nearest_pair(entries, other->second);
    const PerAccelerator pair = per_accelerator(*one, *two);
    logs += std::log(pair.ratio.value);
    ++found.benchmarks;
    if (distance(*one, *two) > 0.0) found.unequal.push_back(pair);
  }
  if (found.benchmarks > 0)
    found.geometric_mean = std::exp(logs / static_cast<double>(found.benchmarks));
  return found;
}

}  // namespace bench::mlperf
