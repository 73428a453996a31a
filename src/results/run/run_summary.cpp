#include "results/run/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "core/hostlist.h"
#include "results/run/derived_results.h"
#include "results/run/dimensions.h"
#include "results/run/machines.h"

namespace bench {
namespace {

void read_header(const RunRecords& run, RunSummary& report) {
  report.run = run.run;
  report.suite = text_field(run.plan, "suite");
  report.digest = text_field(run.plan, "digest");
  report.time_ns = integer_field(run.plan, "time_ns");
  report.labels = object_field(run.plan, "labels");
  if (report.time_ns == 0 && !run.records.empty()) report.time_ns = run.records.front().time_ns;
}

/// A resumed run has several end events: the last one counts, durations add up.
void read_end(const RunRecords& run, RunSummary& report) {
  std::int64_t last = report.time_ns;
  double seconds = 0.0;
  for (const Record& record : run.records) {
    last = std::max(last, record.time_ns);
    const auto* event = std::get_if<Event>(&record.body);
    if (event == nullptr || event->key != kRunEndEvent || !record.job.empty()) continue;
    const std::string state = text_field(event->value, "state");
    report.finished = state == "finished";
    report.interrupted = state == "interrupted";
    seconds += number_field(event->value, "seconds", 0.0);
  }
  const bool ended = report.finished || report.interrupted;
  if (ended && seconds > 0.0)
    report.seconds = seconds;
  else if (!run.records.empty())
    report.seconds = 1e-9 * (static_cast<double>(last) - static_cast<double>(report.time_ns));
}

Series end_of_job(const JobResult& result) {
  Series series;
  series.job = result.job.id;
  series.case_name = result.job.case_name;
  series.probe = result.job.probe;
  series.params = result.job.params;
  for (const auto& [name, value] : result.job.part.items()) series.params[name] = value;
  series.device = result.job.device;
  series.ranks = result.job.ranks;
  series.repeat = result.job.repeat;
  series.host = compact_hostlist(result.job.hosts);
  series.rank = -1;
  series.outcome = result.outcome;
  series.reason = result.reason;
  return series;
}

/// Last facts of this topic per job.
std::map<std::string, Json> facts_by_job(const RunRecords& run, std::string_view topic) {
  std::map<std::string, Json> by_job;
  for (const Record& record : run.records)
    if (const auto* facts = std::get_if<Facts>(&record.body);
        facts != nullptr && facts->topic == topic && facts->facts.is_object())
      by_job[record.job] = facts->facts;
  return by_job;
}

/// By job; borrows the records.
std::map<std::string, TrainingTimes> training_times(const RunRecords& run) {
  std::map<std::string, TrainingTimes> by_job;
  for (const Record& record : run.records) {
    if (const auto* chunk = std::get_if<Chunk>(&record.body);
        chunk != nullptr && chunk->name == "breakdown")
      by_job[record.job].breakdown = chunk;
    if (const auto* facts = std::get_if<Facts>(&record.body);
        facts != nullptr && facts->topic == "training")
      by_job[record.job].facts = &facts->facts;
  }
  return by_job;
}

void add_scaling_efficiencies(const std::vector<JobResult>& jobs, std::vector<Result>& results) {
  // A ladder over hosts begins with a job on one of them.
  std::map<std::string, std::size_t> most_hosts;
  std::map<std::string, const JobResult*> by_id;
  for (const JobResult& job : jobs) {
    std::size_t& most = most_hosts[job.job.case_name];
    most = std::max(most, job.job.hosts.size());
    by_id[job.job.id] = &job;
  }
  std::vector<Throughput> all;
  for (const Result& result : results) {
    const JobResult& job = *by_id.at(result.series.job);
    const bool alone = most_hosts[job.job.case_name] == 1;
    all.push_back({&result.series, alone ? compact_hostlist(job.job.hosts) : ""});
  }
  for (Series& series : scaling_efficiencies(all)) results.push_back({std::move(series), {}});
}

/// Results in plan order, scaling efficiencies last; a job that ended worse than its series gets
/// its own row.
std::vector<Result> make_results(const RunRecords& run, const std::vector<JobResult>& jobs) {
  const SeriesOfJobs series_of_jobs(run, jobs);
  const TelemetryIndex telemetry(run);
  const std::map<std::string, TrainingTimes> times = training_times(run);
  std::vector<Result> results;
  results.reserve(series_of_jobs.most() + jobs.size());  // at most one end each
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Status worst = Status::ok;
    std::vector<Series> all = series_of_jobs.of(i);
    if (const auto found = times.find(jobs[i].job.id); found != times.end())
      std::ranges::move(derived_of_job(jobs[i], all, found->second), std::back_inserter(all));
    for (Series& series : all) {
      worst = worse(worst, series.outcome);
      auto seen = telemetry.of(series);
      results.push_back({std::move(series), {}, std::move(seen)});
    }
    if (worse(worst, jobs[i].outcome) != worst) results.push_back({end_of_job(jobs[i]), {}});
  }
  add_scaling_efficiencies(jobs, results);
  return results;
}

void judge_gates(const RunRecords& run, RunSummary& report) {
  std::vector<const Series*> series;
  for (const Result& result : report.results) series.push_back(&result.series);
  report.gates = evaluate_gates(field(run.plan, "gates"), series);
  for (const GateResult& gate : report.gates) {
    if (!gate.series) continue;
    std::optional<Verdict>& verdict = report.results[*gate.series].verdict;
    verdict = verdict ? worse(*verdict, gate.verdict) : gate.verdict;
  }
}

bool all_skipped(const RunSummary& report) {
  return std::all_of(report.jobs.begin(), report.jobs.end(),
                     [](const JobResult& job) { return job.outcome == Status::skipped; });
}

/// Jobs on whose behalf a search ran.
std::set<std::string> searching(const RunSummary& report) {
  std::set<std::string> jobs;
  for (const JobResult& job : report.jobs)
    if (!job.job.search_of.empty()) jobs.insert(job.job.id);
  return jobs;
}

Status run_outcome(const RunSummary& report) {
  const std::set<std::string> searches = searching(report);
  Status outcome = all_skipped(report) ? Status::skipped : Status::ok;
  for (const JobResult& job : report.jobs)
    if (searches.contains(job.job.id))
      continue;
    else if (job.not_run)
      outcome = worse(outcome, Status::failed);
    else if (job.outcome != Status::skipped)
      outcome = worse(outcome, job.outcome);
  // A probe may report an invalid series and still end its job as ok.
  for (const Result& result : report.results)
    if (result.series.outcome != Status::skipped && !searches.contains(result.series.job))
      outcome = worse(outcome, result.series.outcome);
  if (!disagreements(report.hashes).empty()) outcome = worse(outcome, Status::invalid);
  return outcome;
}

/// Cases whose jobs were all skipped, by the plan or by the rank: their gates are excused.
std::set<std::string> skipped_cases(const RunSummary& report) {
  std::set<std::string> skipped;
  for (const JobResult& job : report.jobs) skipped.insert(job.job.case_name);
  for (const JobResult& job : report.jobs)
    if (job.outcome != Status::skipped || job.not_run) skipped.erase(job.job.case_name);
  return skipped;
}

/// Series of a job that were measured. For the job as a whole, single values count only where there
/// is nothing else: many are counts that no load changes.
struct MeasuredSeries {
  std::size_t repeated = 0, repeated_clean = 0, single_clean = 0;
  std::vector<std::pair<std::string, Json>> all;  // name and parameters
  std::vector<std::size_t> without_clean;         // indices into `all`

  void add(const Series& series) {
    if (series.metric.empty() || series.outcome != Status::ok || series.n == 0) return;
    if (series.derived) return;  // as clean as what it follows from
    if (series.n > 1) ++repeated;
    if (series.clean > 0)
      ++(series.n > 1 ? repeated_clean : single_clean);
    else
      without_clean.push_back(all.size());
    all.emplace_back(series.metric, series.params);
  }
  bool all_disturbed() const {
    return !all.empty() && (repeated > 0 ? repeated_clean : single_clean) == 0;
  }
  std::vector<std::string> unclean() const {
    const std::vector<std::string> names = short_names(all);
    std::vector<std::string> found;
    for (const std::size_t i : without_clean)  // every rank has its own
      if (std::ranges::find(found, names[i]) == found.end()) found.push_back(names[i]);
    return found;
  }
};

/// Counts what was asked for and what came of it.
class Judge {
 public:
  explicit Judge(RunSummary& report) : report_(report), searches_(searching(report)) {
    for (const Result& result : report.results) {
      measured_[result.series.job].add(result.series);
      if (result.series.outcome == Status::invalid && !searches_.contains(result.series.job))
        ++of().failed;
    }
  }

  void judge(const RunRecords& run) {
    of().interrupted = report_.interrupted;
    of().failed += disagreements(report_.hashes).size();
    for (JobResult& job : report_.jobs)
      if (!searches_.contains(job.job.id)) add(job);
    const std::set<std::string> skipped = skipped_cases(report_);
    for (GateResult& gate : report_.gates) {
      gate.excused = !gate.judged && skipped.contains(gate.gate.case_name);
      add(gate);
    }
    if (!run.plan_lost.empty())
      report_.damage.push_back(run.plan_lost + ", so what was asked for is unknown");
    if (const std::size_t lines = run.position.unreadable; lines > 0)
      report_.damage.push_back(
          fmt::format("records.jsonl has {} unreadable lines: results may be missing", lines));
    for (const std::string& one : report_.damage) leave(one);
  }

 private:
  Conclusion& of() { return report_.conclusion; }

  void leave(std::string why) {
    ++of().unjudged;
    report_.unjudged.push_back(std::move(why));
  }

  void add(JobResult& job) {
    if (job.outcome == Status::ok) {
      const MeasuredSeries& measured = measured_[job.job.id];
      job.disturbed = measured.all_disturbed();
      job.unclean = measured.unclean();
    }
    if (job.outcome == Status::invalid)
      ++of().failed;
    else if (job.not_run || job.outcome == Status::failed || job.outcome == Status::timed_out)
      leave(fmt::format("job {}: {}: {}", job.job.id,
                        job.not_run ? "not run" : to_string(job.outcome), job.reason));
    else if (!job.unclean.empty())
      leave(fmt::format("job {}: {}", job.job.id, unclean_text(job)));
    else if (job.outcome == Status::ok)
      ++of().passed;
  }

  /// A judged gate whose interval is too wide to tell counts neither way.
  void add(const GateResult& gate) {
    if (gate.verdict != Verdict::inconclusive)
      of().add(gate.verdict);
    else if (!gate.judged && !gate.excused)
      leave(fmt::format("gate on {} of case {}: {}", gate.gate.metric, gate.gate.case_name,
                        gate.reason));
  }

  RunSummary& report_;
  std::set<std::string> searches_;
  std::map<std::string, MeasuredSeries> measured_;
};

}  // namespace

RunSummary make_run_summary(const RunRecords& run) {
  RunSummary report;
  read_header(run, report);
  read_end(run, report);
  report.warnings = run.warnings;
  report.jobs = job_results(run);
  report.results = make_results(run, report.jobs);
  judge_gates(run, report);
  report.hashes = result_hashes(run);
  report.loaders = facts_by_job(run, "data_loader");
  report.gemm_libraries = facts_by_job(run, "gemm_libraries");
  report.machines = machines(run, report.results);
  report.programs = programs(run);
  report.outcome = run_outcome(report);
  Judge(report).judge(run);
  report.exit_code = report.conclusion.exit_code();
  return report;
}

PlannedJobs jobs_by_id(const RunSummary& report) {
  PlannedJobs jobs;
  for (const JobResult& job : report.jobs) jobs[job.job.id] = &job.job;
  return jobs;
}

}  // namespace bench
