#include "mlperf/score/entry_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "core/error.h"
#include "core/names.h"
#include "core/text.h"
#include "results/stats/olympic_mean.h"

namespace bench::mlperf {
namespace {

std::vector<std::size_t> by_launch(std::span<const double> launch_ms) {
  std::vector<std::size_t> order(launch_ms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto time = [&](std::size_t run) {
    return std::isnan(launch_ms[run]) ? HUGE_VAL : launch_ms[run];
  };
  std::ranges::stable_sort(order, {}, time);
  return order;
}

double mean_or_infinity(std::span<const double> minutes) {
  const double mean = olympic_mean(minutes).mean;
  return std::isfinite(mean) ? mean : HUGE_VAL;
}

std::size_t median_of(const std::vector<double>& means) {
  std::vector<std::size_t> order(means.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return means[i]; });
  return order[order.size() / 2];
}

}  // namespace

RunWindow median_window(std::span<const double> launch_ms, std::span<const double> minutes,
                        std::size_t count) {
  const std::vector<std::size_t> order = by_launch(launch_ms);
  std::vector<double> sorted;
  for (const std::size_t run : order) sorted.push_back(minutes[run]);
  RunWindow window;
  for (std::size_t first = 0; first + count <= sorted.size(); ++first)
    window.means.push_back(mean_or_infinity(std::span(sorted).subspan(first, count)));
  window.first = median_of(window.means);
  const auto begin = order.begin() + static_cast<std::ptrdiff_t>(window.first);
  window.runs.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  return window;
}

namespace {

constexpr NameTable<RunUse, 5> kUses{{{{RunUse::counted, "counted"},
                                       {RunUse::fastest, "fastest"},
                                       {RunUse::slowest, "slowest"},
                                       {RunUse::failed, "failed"},
                                       {RunUse::outside, "outside"}}}};

double rounded_to_three_places(double value) {
  return std::strtod(fmt::format("{:.3f}", value).c_str(), nullptr);
}

std::string why_not_counted(const ScoredRun& run) {
  if (!run.read.compliant) return run.read.failed;
  if (std::isnan(run.minutes)) return "run_start or run_stop is missing";
  if (!(run.minutes > 0.0)) return "run_stop is not after run_start";
  return "";
}

void judge_runs(EntryScore& entry, std::string_view unit) {
  for (ScoredRun& run : entry.runs) {
    run.minutes = run.read.facts.minutes;
    run.converged = convergence_point(run.read.facts, unit);
    run.why = why_not_counted(run);
    if (!run.why.empty()) run.use = RunUse::failed;
    if (run.why.empty() && run.read.facts.status != "success")
      entry.warnings.push_back(
          fmt::format("{} ends with status '{}': the official checker passes it and counts its "
                      "time, but the convergence test counts it as not converged",
                      run.read.file.filename().string(), run.read.facts.status));
  }
}

void check_benchmark_names(EntryScore& entry) {
  for (const ScoredRun& run : entry.runs) {
    const std::string& logged = run.read.facts.benchmark;
    if (logged.empty() || logged == entry.reference) continue;
    entry.warnings.push_back(fmt::format("{} names the benchmark '{}' but is scored as {}",
                                         run.read.file.filename().string(), logged,
                                         entry.reference));
    return;
  }
}

/// identity.order of `mlperf check`: the tables of the official tools lack such a result.
void check_line_order(EntryScore& entry, const RcpSet& set) {
  if (set.unit != "samples" || entry.division != "closed") return;
  std::vector<std::string> files;
  for (const ScoredRun& run : entry.runs)
    if (run.read.facts.evaluated_before_named) files.push_back(run.read.file.filename().string());
  if (files.empty()) return;
  entry.warnings.push_back(fmt::format(
      "eval_accuracy is above submission_benchmark in {} of {} logs (the first: {}): the official "
      "convergence test ends with a traceback there; log the benchmark first",
      files.size(), entry.runs.size(), files.front()));
}

void choose_runs(EntryScore& entry) {
  if (entry.required_runs == 0) {
    entry.problems.push_back("unknown number of required runs for " + entry.benchmark);
    return;
  }
  const auto count = static_cast<std::size_t>(entry.required_runs);
  if (entry.runs.size() < count)
    entry.problems.push_back(fmt::format("{} of {} required runs", entry.runs.size(), count));
  if (entry.runs.size() <= count) return;
  std::vector<double> launch, minutes;
  for (const ScoredRun& run : entry.runs) {
    launch.push_back(run.read.launch_ms);
    minutes.push_back(run.use == RunUse::failed ? HUGE_VAL : run.minutes);
  }
  entry.window = median_window(launch, minutes, count);
  for (std::size_t i = 0; i < entry.runs.size(); ++i)
    if (std::ranges::find(entry.window->runs, i) == entry.window->runs.end())
      entry.runs[i].use = RunUse::outside;
}

void drop_extremes(const std::vector<ScoredRun*>& runs) {
  std::vector<ScoredRun*> timed;
  for (ScoredRun* run : runs)
    if (run->use == RunUse::counted) timed.push_back(run);
  std::ranges::stable_sort(timed, {}, [](const ScoredRun* run) { return run->minutes; });
  timed.front()->use = RunUse::fastest;
  if (timed.size() == runs.size()) timed.back()->use = RunUse::slowest;
}

/// The scored runs: all, or those of the window.
std::vector<ScoredRun*> chosen_runs(EntryScore& entry) {
  std::vector<ScoredRun*> chosen;
  for (ScoredRun& run : entry.runs)
    if (run.use != RunUse::outside) chosen.push_back(&run);
  return chosen;
}

void set_mean(EntryScore& entry) {
  const std::vector<ScoredRun*> runs = chosen_runs(entry);
  std::vector<double> minutes;
  for (const ScoredRun* run : runs)
    minutes.push_back(run->use == RunUse::failed ? HUGE_VAL : run->minutes);
  const OlympicMean mean = olympic_mean(minutes);
  entry.mean_minutes = mean.mean;
  if (std::isnan(mean.mean))
    entry.problems.push_back(
        mean.without > 1
            ? fmt::format("{} of {} runs failed, at most one is allowed", mean.without, mean.runs)
            : mean.why);
  if (!mean.trimmed) return;
  entry.olympic_mean_minutes = mean.mean;
  drop_extremes(runs);
}

/// NaN unless all runs logged the same batch; failed runs may lack one.
double common_batch(const std::vector<ScoredRun*>& runs) {
  double batch = kNoValue;
  for (const ScoredRun* run : runs) {
    const auto& own = run->read.facts.global_batch_size;
    if (!own && run->use == RunUse::failed) continue;
    if (!own || (!std::isnan(batch) && *own != batch)) return kNoValue;
    batch = *own;
  }
  return batch;
}

std::string missing_progress_text(const std::vector<ScoredRun*>& runs, std::string_view unit) {
  std::vector<std::string> files;
  for (const ScoredRun* run : runs)
    if (std::isnan(run->converged)) files.push_back(run->read.file.filename().string());
  if (files.empty()) return "";
  return fmt::format("the last evaluation has no {} in {}",
                     unit == "samples" ? "samples_count" : "epoch_num", join(files, ", "));
}

WhatIf what_if(const EntryScore& entry, const RcpSet& set, double batch,
               const std::vector<double>& converged) {
  WhatIf made{.test = rcp_test(set, batch, converged)};
  const auto& point = made.test.reference.point;
  if (point && std::isfinite(made.test.mean))
    made.minutes_at_reference = entry.mean_minutes * point->mean / made.test.mean;
  return made;
}

/// The official checker applies the allowance in all rounds, the rules only in some.
void warn_about_allowance(EntryScore& entry, const RcpSet& set) {
  const RcpTest& test = *entry.rcp;
  if (!test.pass || test.mean >= test.reference.point->minimum) return;
  entry.warnings.push_back(fmt::format(
      "the convergence test passes only because of the allowance of {:g} {}: "
      "{:.10g} is below the minimum of {:.10g} ({})",
      test.allowance, set.unit, test.mean, test.reference.point->minimum, set.allowance_where));
}

void test_points(EntryScore& entry, const RcpSet& set, const ScoreSettings& settings) {
  const std::vector<ScoredRun*> runs = chosen_runs(entry);
  std::vector<double> converged;
  for (const ScoredRun* run : runs) converged.push_back(run->converged);
  entry.rcp = rcp_test(set, common_batch(runs), converged);
  if (const std::string unknown = missing_progress_text(runs, set.unit); !unknown.empty()) {
    entry.rcp->pass = false, entry.rcp->factor = 1.0;
    entry.rcp->why = unknown;
  }
  for (const double batch : settings.batches)
    entry.what_if.push_back(what_if(entry, set, batch, converged));
  if (entry.rcp->pass) return warn_about_allowance(entry, set);
  const std::string words = "convergence: " + entry.rcp->why;
  (settings.rcp_bypass ? entry.warnings : entry.problems).push_back(words);
}

/// Sets rcp or rcp_why, what_if, and a problem if the test fails. Tests the closed division only.
void test_convergence(EntryScore& entry, const RcpSet* set, const ScoreSettings& settings) {
  if (set == nullptr) {
    entry.rcp_why = fmt::format("round {} has no reference convergence points for {}",
                                entry.ruleset, printable(entry.benchmark));
    if (entry.division == "closed")
      entry.warnings.push_back("convergence not tested: " + entry.rcp_why);
    return;
  }
  if (entry.division == "closed") return test_points(entry, *set, settings);
  entry.rcp_why = "the test applies to the closed division only";
}

/// Files have double precision; factors from other formulas differ by more.
constexpr double kSameFactor = 1e-9;

/// Sets scaling_factor from file_factor and the test; warns if they differ.
void set_factor(EntryScore& entry) {
  const double own = entry.rcp ? entry.rcp->factor : 1.0;
  entry.scaling_factor = entry.file_factor.value_or(own);
  if (!entry.file_factor || std::abs(*entry.file_factor - own) <= kSameFactor * own) return;
  entry.warnings.push_back(fmt::format(
      "scaling.json has the factor {:.9g}, but these runs give {:.9g} ({:.6g} "
      "instead of {:.6g} minutes): the file is stale, or the review committee "
      "set another factor; the score uses the file's, as the published table does",
      *entry.file_factor, own, entry.mean_minutes * own, entry.mean_minutes * *entry.file_factor));
}

/// A counted run without a usable power log leaves the entry without energy.
void set_energy(EntryScore& entry) {
  double sum = 0.0, counted = 0.0;
  bool measured = false;
  for (const ScoredRun& run : entry.runs) {
    if (run.read.energy) {
      measured = true;
      for (const std::string& problem : run.read.energy->problems)
        entry.warnings.push_back("energy: " + problem);
    }
    if (run.use != RunUse::counted) continue;
    sum += run.read.energy ? run.read.energy->joules : kNoValue;
    counted += 1.0;
  }
  if (measured && std::isfinite(entry.mean_minutes))
    entry.energy_joules = sum / counted * entry.scaling_factor;
}

}  // namespace

std::string_view to_string(RunUse use) { return kUses.name(use); }

double convergence_point(const RunFacts& facts, std::string_view unit) {
  if (facts.status != "success") return HUGE_VAL;
  if (!facts.last_before_stop) return kNoValue;
  const Evaluation& last = *facts.last_before_stop;
  if (unit == "samples") return last.samples_count.value_or(kNoValue);
  return last.epoch_num ? rounded_to_three_places(*last.epoch_num) : kNoValue;
}

double read_scaling_factor(const std::filesystem::path& path) {
  const Json json = read_json(path);
  const double factor = number_field(json, "scaling_factor");
  if (!(factor > 0.0 && std::isfinite(factor)))
    throw Error(ErrorKind::input,
                fmt::format("{}: 'scaling_factor' is {}", path.string(),
                            excerpt(field(json, "scaling_factor"))),
                "set it to a positive number");
  return factor;
}

void score_entry(EntryScore& entry, const RcpSet* set, const ScoreSettings& settings) {
  if (set != nullptr) {
    entry.required_runs = set->runs;
    entry.reference = set->benchmark;
    check_benchmark_names(entry);
    check_line_order(entry, *set);
  }
  judge_runs(entry, set != nullptr ? std::string_view(set->unit) : "samples");
  choose_runs(entry);
  set_mean(entry);
  test_convergence(entry, set, settings);
  set_factor(entry);
  entry.provisional_minutes = entry.mean_minutes * entry.scaling_factor;
  if (entry.valid()) entry.score_minutes = entry.provisional_minutes;
  set_energy(entry);
}

}  // namespace bench::mlperf
