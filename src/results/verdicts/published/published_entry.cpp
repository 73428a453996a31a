#include "results/verdicts/published/published_entry.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "mlperf/submission/submission.h"

namespace bench::mlperf {
namespace {

/// In milliseconds, at most the year 10000; 0 if not a valid time.
std::int64_t start_of(const RunFacts& facts) {
  constexpr double kLatest = 2.5e14;
  const double start = facts.run_start_ms.value_or(0.0);
  return start > 0.0 && start < kLatest ? static_cast<std::int64_t>(start) : 0;
}

PublishedRun published_run(const ScoredRun& run) {
  PublishedRun found;
  found.file = run.read.file.filename().string();
  found.counts = run.use != RunUse::failed && std::isfinite(run.minutes);
  found.failure = run.why.empty() ? run.read.failed : run.why;
  found.minutes = run.minutes;
  if (std::isfinite(run.converged)) found.samples = run.converged;
  found.start_ms = start_of(run.read.facts);
  found.digest = run.read.digest;
  return found;
}

void set_convergence(const EntryScore& score, PublishedEntry& entry) {
  if (score.rcp) {
    entry.samples = std::isfinite(score.rcp->mean) ? score.rcp->mean : kNoValue;
    entry.samples_unit = score.rcp->unit.empty() ? "samples" : score.rcp->unit;
    entry.global_batch_size = score.rcp->batch;
    return;
  }
  std::vector<double> samples;
  for (const PublishedRun& run : entry.runs) samples.push_back(run.counts ? run.samples : HUGE_VAL);
  entry.samples = olympic_mean(samples).mean;
  for (const ScoredRun& run : score.runs)
    if (run.read.facts.global_batch_size)
      entry.global_batch_size = *run.read.facts.global_batch_size;
}

PublishedEntry published_entry(const EntryScore& score) {
  PublishedEntry entry;
  entry.submitter = score.submitter;
  entry.system = score.system;
  entry.benchmark = score.benchmark;
  entry.division = score.division;
  for (const ScoredRun& run : score.runs)
    if (run.use != RunUse::outside) entry.runs.push_back(published_run(run));
  entry.olympic_minutes = score.olympic_mean_minutes;
  entry.scaling_factor = score.scaling_factor;
  entry.score_minutes = score.score_minutes;
  entry.energy_joules = score.energy_joules;
  if (!std::isfinite(score.score_minutes)) entry.no_score = join(score.problems, "; ");
  set_convergence(score, entry);
  return entry;
}

}  // namespace

std::vector<PublishedEntry> published_entries(const SubmissionScore& score) {
  std::vector<PublishedEntry> entries;
  for (const EntryScore& one : score.entries) {
    entries.push_back(published_entry(one));
    entries.back().no_description =
        "systems/" + one.system + ".json is missing or not a system description";
  }
  for (const SystemRow& system : score.systems) {
    if (!system.description) continue;
    for (const std::size_t i : system.entries) {
      if (i >= entries.size()) continue;
      entries[i].description = *system.description;
      entries[i].no_description.clear();
    }
  }
  return entries;
}

std::vector<PublishedEntry> read_published(const std::filesystem::path& path,
                                           const SubmissionScoreSettings& settings) {
  const Submission submission = find_submission(path);
  if (submission.entries.empty())
    throw Error(ErrorKind::input,
                printable(path.string()) + ": no folder with result_*.txt below it",
                "pass a submission with SUBMITTER/results/SYSTEM/BENCHMARK/result_0.txt "
                "and SUBMITTER/systems/SYSTEM.json");
  return published_entries(score_submission(submission, settings));
}

namespace {

constexpr double kSecondsOfMinute = 60.0;

}  // namespace

double accelerators_of(const PublishedEntry& entry) {
  return static_cast<double>(entry.description.accelerators().value_or(0));
}

std::string why_no_accelerators(const PublishedEntry& entry) {
  if (accelerators_of(entry) > 0.0) return "";
  return entry.no_description.empty() ? "the system description has no number of accelerators"
                                      : printable(entry.no_description);
}

std::string hardware_name(const PublishedEntry& entry) {
  const SystemDescription& system = entry.description;
  return system.accelerators() && !system.accelerator.empty() ? system.accelerator
                                                              : system.processor;
}

std::string entry_label(const PublishedEntry& entry) {
  return printable(entry.benchmark + " of " + entry.submitter + " " + entry.system);
}

std::vector<double> counted_seconds(const PublishedEntry& entry) {
  std::vector<double> seconds;
  for (const PublishedRun& run : entry.runs)
    if (run.counts && run.minutes > 0.0) seconds.push_back(run.minutes * kSecondsOfMinute);
  return seconds;
}

OlympicMean olympic_seconds(const PublishedEntry& entry) {
  std::vector<double> seconds;
  for (const PublishedRun& run : entry.runs)
    seconds.push_back(run.counts ? run.minutes * kSecondsOfMinute : HUGE_VAL);
  return olympic_mean(seconds);
}

double samples_per_second(const PublishedEntry& entry) {
  return entry.samples / (entry.olympic_minutes * kSecondsOfMinute);
}

double accelerator_minutes(const PublishedEntry& entry) {
  const double accelerators = accelerators_of(entry);
  return accelerators > 0.0 ? entry.score_minutes * accelerators : kNoValue;
}

bool matches_words(const PublishedEntry& entry, const std::string& words) {
  const SystemDescription& system = entry.description;
  return contains_words(entry.submitter + "\n" + entry.system + "\n" + system.system_name + "\n" +
                            system.accelerator + "\n" + system.processor + "\n" + system.framework,
                        words);
}

std::vector<PublishedEntry> chosen_entries(std::vector<PublishedEntry> entries,
                                           const PublishedChoice& choice) {
  std::set<std::string> names;
  for (const PublishedEntry& entry : entries) names.insert(entry.benchmark);
  const std::vector<std::string> known(names.begin(), names.end());
  for (const std::string& asked : choice.benchmarks)
    if (!names.contains(asked))
      throw Error(
          ErrorKind::input,
          "no result for the benchmark '" + printable(asked) + "'." + did_you_mean(asked, known),
          "available benchmarks: " + printable(join(known, ", ")));
  std::erase_if(entries, [&](const PublishedEntry& entry) {
    const bool asked =
        choice.benchmarks.empty() ||
        std::ranges::find(choice.benchmarks, entry.benchmark) != choice.benchmarks.end();
    return !asked || !matches_words(entry, choice.words);
  });
  return entries;
}

}  // namespace bench::mlperf
