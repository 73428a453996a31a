#include "results/verdicts/training/training_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/order_statistics.h"
#include "results/run/conclusion.h"
#include "results/verdicts/training/training_summary.h"

namespace bench {
namespace {

void merge_throughput(TrainingGroup& group) {
  std::vector<double> rates;
  for (const TrainingRun& run : group.runs)
    if (was_timed(run) && std::isfinite(run.items_per_second))
      rates.push_back(run.items_per_second);
  if (rates.empty()) return;
  group.items_per_second = median(rates);
  if (const auto interval = median_interval(rates)) {
    group.items_low = interval->low;
    group.items_high = interval->high;
    group.items_interval =
        fmt::format("95 % confidence interval of the median of {} runs", rates.size());
  } else if (rates.size() > 1) {
    group.items_low = std::ranges::min(rates);
    group.items_high = std::ranges::max(rates);
    group.items_interval = fmt::format("range of {} runs", rates.size());
  } else {
    const auto only = std::ranges::find_if(group.runs, was_timed);
    group.items_low = only->items_low;
    group.items_high = only->items_high;
    group.items_interval = "95 % confidence interval over windows of one run";
  }
}

/// MFU convention: FLOPs of the model without recomputation.
void merge_flops(TrainingGroup& group) {
  const std::string peak = text_field(object_field(group.facts, "peak_flops"), "kind");
  std::vector<double> shares;
  for (const TrainingRun& run : group.runs)
    if (const auto mfu = run.mfu.find(peak); was_timed(run) && mfu != run.mfu.end())
      shares.push_back(mfu->second);
  if (!shares.empty()) group.mfu = median(shares);
  const double a_sample = number_field(group.facts, "flops_per_sample");
  const double items = number_field(group.facts, "items_per_sample");
  if (items > 0.0 && a_sample > 0.0) group.flops = group.items_per_second / items * a_sample;
}

/// The rank that was slowest in most runs; of equals the first.
std::string most_often(const std::map<std::string, int>& counts) {
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  return most == counts.end() ? "" : most->first;
}

void merge_breakdown(TrainingGroup& group) {
  std::map<std::string, std::map<std::string, int>> slowest;
  for (const TrainingRun& run : group.runs) {
    if (!was_timed(run)) continue;
    for (const TrainingPhase& phase : run.breakdown.phases()) {
      auto at = std::ranges::find(group.breakdown, phase.phase, &TrainingPhase::phase);
      if (at == group.breakdown.end())
        at = group.breakdown.insert(at, {phase.phase, 0.0, kNoValue, {}});
      if (std::isfinite(phase.seconds)) at->seconds += phase.seconds;
      if (std::isfinite(phase.share)) at->share = 0.0;
      if (!phase.slowest_rank.empty()) ++slowest[phase.phase][phase.slowest_rank];
    }
  }
  double all = 0.0;
  for (const TrainingPhase& phase : group.breakdown)
    if (std::isfinite(phase.share)) all += phase.seconds;
  for (TrainingPhase& phase : group.breakdown) {
    if (std::isfinite(phase.share)) phase.share = all > 0.0 ? phase.seconds / all : kNoValue;
    phase.slowest_rank = most_often(slowest[phase.phase]);
  }
}

void merge_memory(TrainingGroup& group) {
  for (const TrainingRun& run : group.runs)
    for (const TrainingMemory& memory : run.memory) {
      auto at = std::ranges::find(group.memory, memory.label, &TrainingMemory::label);
      if (at == group.memory.end()) at = group.memory.insert(at, {memory.label, kNoValue});
      at->bytes = std::fmax(at->bytes, memory.bytes);
    }
}

void merge_energy(TrainingGroup& group) {
  std::vector<double> joules;
  for (const TrainingRun& run : group.runs) {
    if (!was_timed(run)) continue;
    const bool known = std::isfinite(run.energy_j);
    if (known || joules.empty()) group.energy_of = run.energy_of;
    if (known) joules.push_back(run.energy_j);
  }
  if (!joules.empty()) group.energy_j = mean(joules);
}

}  // namespace

void merge_runs(TrainingGroup& group) {
  merge_throughput(group);
  merge_flops(group);
  merge_breakdown(group);
  merge_memory(group);
  merge_energy(group);
  for (const TrainingRun& run : group.runs)
    group.straggler_spread = std::fmax(group.straggler_spread, run.straggler_spread);
}

namespace {

bool fits(const SeriesRow& row, const TrainingSetup& setup, std::int64_t threads) {
  if (row.device != setup.device || text_field(row.params, "dtype") != setup.dtype) return false;
  return setup.device != "host" || integer_field(row.params, "threads", -1) == threads;
}

}  // namespace

MeasuredPeak measured_peak(const TrainingSetup& setup, const SeriesFinder& series) {
  const bool host = setup.device == "host";
  if (setup.on.empty() || (host && setup.lanes <= 0))
    return {kNoValue, "number and placement of training threads unknown"};
  const auto ranks = setup.ranks / static_cast<std::int64_t>(setup.on.size());
  const std::int64_t threads = ranks * setup.lanes;
  MeasuredPeak peak{0.0, {}};
  for (const std::string& name : setup.on) {
    const SeriesRow* best = nullptr;
    const auto rows = series("gemm.throughput", name);
    for (const SeriesRow& row : rows)
      if (fits(row, setup, threads) && (best == nullptr || row.median > best->median)) best = &row;
    if (best == nullptr)
      return {kNoValue,
              fmt::format(
                  "no gemm.throughput of {} in {} on {} in the database; run `benchctl run gemm`",
                  host ? fmt::format("{} threads", threads) : setup.device, setup.dtype, name)};
    peak.flops += best->median * static_cast<double>(host ? 1 : ranks);
    if (peak.source.empty()) peak.source = "gemm in run " + best->run;
  }
  return peak;
}

namespace {

bool is_resumed(const TrainingRun& run) { return run.resumed_from > 0; }

/// A resumed run that met its target did so in another time than in one piece; one that missed it
/// missed it.
bool counts_as_run(const TrainingRun& run, const TrainingGroup& group) {
  if (run.state == TrainingState::not_run) return false;
  return group.resumed_counted || !is_resumed(run) || run.state != TrainingState::converged;
}

/// Infinity for a run that missed its target.
std::vector<double> times_of(const TrainingGroup& group) {
  std::vector<double> times;
  for (const TrainingRun& run : group.runs)
    if (counts_as_run(run, group))
      times.push_back(run.state == TrainingState::converged ? run.seconds_to_target : HUGE_VAL);
  return times;
}

void conclude(TrainingGroup& group, const PeakFinder& peak, Resumed resumed) {
  group.resumed = static_cast<std::size_t>(std::ranges::count_if(group.runs, is_resumed));
  group.resumed_counted = resumed == Resumed::counted;
  for (const TrainingRun& run : group.runs)
    if (group.facts.empty() && !run.facts.empty()) {
      group.facts = run.facts;
      group.setup = run.setup;
    }
  if (!group.setup.to_target()) {
    group.time.why = "the run was limited by steps or samples, without a target";
  } else if (on_files(group) && !std::isfinite(group.setup.target)) {
    group.time.why = "no target known for these data: set one with --target G";
  } else {
    const auto times = times_of(group);
    group.time = olympic_mean(times);
    if (times.empty() && group.resumed > 0)
      group.time.why = "every run that ended was resumed from a checkpoint";
    group.seconds = variation(times);
    group.samples = variation(samples_of(group));
  }
  merge_runs(group);
  if (peak && std::isfinite(group.flops)) group.gemm = peak(group.setup);
}

std::vector<TrainingGroup> groups_of(std::span<const RunRecords> runs) {
  std::vector<TrainingGroup> groups;
  std::map<std::string, std::size_t> by_key;
  for (const RunRecords& records : runs)
    for (TrainingRun& run : training_runs(records)) {
      const auto [at, added] = by_key.emplace(key_of(run.setup), groups.size());
      if (added) groups.emplace_back().setup = run.setup;
      groups[at->second].runs.push_back(std::move(run));
    }
  return groups;
}

/// MLPerf requires different seeds: equal seeds are the same training twice.
void warn_of_seeds(const TrainingGroup& group, std::vector<std::string>& warnings) {
  std::set<std::uint64_t> seen, reported;
  for (const TrainingRun& run : group.runs)
    if (!seen.insert(run.seed).second && reported.insert(run.seed).second)
      warnings.push_back(
          fmt::format("seed {} was used more than once: its runs are not independent, so intervals "
                      "are too narrow",
                      run.seed));
}

/// The samples that a seed takes do not depend on the machine; its seconds do.
void warn_of_machine(const TrainingGroup& group, std::vector<std::string>& warnings) {
  if (group.seconds.low > group.samples.high)
    warnings.push_back(
        fmt::format("time to target varies by {:.1f} %, samples by {:.1f} %: host speed was "
                    "unstable; for the seed variation alone {:.0f} runs would suffice",
                    100.0 * group.seconds.cv, 100.0 * group.samples.cv, group.samples.runs_needed));
}

/// What a slowdown added to the run; infinite for one that had not ended when the run did.
double added_seconds(const TrainingSlowdown& slowdown) {
  if (!slowdown.end) return std::numeric_limits<double>::infinity();
  return static_cast<double>(*slowdown.end - slowdown.first) * (slowdown.slow_s - slowdown.usual_s);
}

void warn_of_slowdowns(const TrainingGroup& group, std::vector<std::string>& warnings) {
  constexpr std::size_t kMost = 5;  // runs
  std::size_t slow = 0;
  for (const TrainingRun& run : group.runs) {
    if (run.slowdowns.empty() || ++slow > kMost) continue;
    const auto worst = std::ranges::max_element(run.slowdowns, {}, added_seconds);
    const std::size_t more = run.slowdowns.size() - 1;
    warnings.push_back(fmt::format("{}, seed {}: {}{}", setup_words(group), run.seed,
                                   to_text(*worst),
                                   more > 0 ? fmt::format("; {} more", more) : ""));
  }
  if (slow > kMost)
    warnings.push_back(fmt::format("{} more runs had slow steps for a time", slow - kMost));
}

void warn_of_setup(const TrainingGroup& group, std::vector<std::string>& warnings) {
  for (const TrainingRun& run : group.runs) {
    if (run.facts.empty()) continue;
    for (const char* key : {"batch", "target", "horizon", "evaluation_every", "lanes", "dtype"})
      if (field(run.facts, key) != field(group.facts, key))
        warnings.push_back(fmt::format(
            "job {} of {}: {} is {}, but {} in the other jobs with the same settings", run.job,
            run.run, key, excerpt(field(run.facts, key)), excerpt(field(group.facts, key))));
  }
}

bool was_interrupted(const RunRecords& run) {
  bool interrupted = false;
  for (const Record& record : run.records)
    if (const auto* event = std::get_if<Event>(&record.body);
        event != nullptr && event->key == kRunEndEvent)
      interrupted = text_field(event->value, "state") == "interrupted";
  return interrupted;
}

/// Whether a run without trainings has diagnoses of loaders or checkpoints.
bool any_diagnosis(const TrainingReport& report) {
  const auto believed = [](const diagnosis::Diagnosed& one) {
    const auto& found = one.diagnosis.bottleneck;
    return !found || found->cause != diagnosis::Cause::measurement_invalid;
  };
  return std::ranges::any_of(report.diagnosed, [&](const DiagnosedRun& run) {
    return std::ranges::any_of(run.diagnoses, believed);
  });
}

Verdict verdict_of(TrainingState state) {
  if (state == TrainingState::not_converged || state == TrainingState::invalid)
    return Verdict::fail;
  return state == TrainingState::failed || state == TrainingState::not_run ? Verdict::inconclusive
                                                                           : Verdict::pass;
}

ExitCode exit_code_of(const TrainingReport& report) {
  Conclusion conclusion{.interrupted = report.interrupted};
  for (std::size_t i = 0; i < report.groups.size(); ++i)
    for (const TrainingRun& run : report.groups[i].runs) {
      const bool too_large = run.state == TrainingState::not_run && run.out_of_memory;
      conclusion.add(too_large && fits_elsewhere(report.batch_ladders, i) ? Verdict::pass
                                                                          : verdict_of(run.state));
    }
  const bool nothing_trained = conclusion.failed + conclusion.unjudged + conclusion.passed == 0;
  if (nothing_trained && any_diagnosis(report)) conclusion.passed = 1;
  return conclusion.exit_code();
}

}  // namespace

std::vector<double> samples_of(const TrainingGroup& group) {
  std::vector<double> samples;
  for (const TrainingRun& run : group.runs)
    if (run.state == TrainingState::converged) samples.push_back(run.samples_to_target);
  return samples;
}

bool was_timed(const TrainingRun& run) {
  const bool valid = run.state == TrainingState::converged ||
                     run.state == TrainingState::not_converged ||
                     run.state == TrainingState::timed_steps;
  return valid && std::isfinite(run.items_per_second);
}

bool is_external(const TrainingGroup& group) {
  const Json& external = field(group.facts, "external");
  return external.is_boolean() && external.get<bool>();
}

bool on_files(const TrainingGroup& group) {
  return text_field(object_field(group.facts, "data"), "kind") == "files";
}

TrainingReport make_training_report(std::span<const RunRecords> runs, const PeakFinder& peak,
                                    Resumed resumed) {
  TrainingReport report;
  for (const RunRecords& run : runs) {
    report.runs.push_back(run.run);
    report.interrupted |= was_interrupted(run);
    if (auto diagnoses = diagnosis::diagnose_run(run); !diagnoses.empty())
      report.diagnosed.push_back({run.run, std::move(diagnoses)});
    for (StepProfile& profile : profiles_of(run)) report.profiles.push_back(std::move(profile));
    for (const std::string& warning : run.warnings)
      report.warnings.push_back(run.run + ": " + warning);
  }
  report.groups = groups_of(runs);
  for (TrainingGroup& group : report.groups) {
    conclude(group, peak, resumed);
    warn_of_seeds(group, report.warnings);
    warn_of_machine(group, report.warnings);
    warn_of_slowdowns(group, report.warnings);
    warn_of_setup(group, report.warnings);
  }
  report.scalings = scalings_of(report.groups);
  report.batch_ladders = batch_ladders_of(report.groups);
  report.exit_code = exit_code_of(report);
  return report;
}

}  // namespace bench
