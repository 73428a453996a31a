#include "runner/nightly/night_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "runner/nightly/hooks.h"
#include "runner/nightly/night_history.h"
#include "runner/nightly/night_past.h"
#include "runner/nightly/night_plan.h"
#include "runner/nightly/night_records.h"
#include "runner/nightly/node_batches.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

class NightRuns {
 public:
  NightRuns(const NightRequest& request, const ProbeCatalogue& catalogue, const LaunchSite& site)
      : request_(request),
        catalogue_(catalogue),
        site_(site),
        past_(read_past(request.database)),
        index_(past_, request.faults, begin_ns_) {
    night_.suite = request.run.plan.suite.name;
    night_.time_ns = begin_ns_;
    night_.budget_s = request.budget_s;
    night_.measured_only = request.measured_only;
  }

  Night run() {
    const Plan plan = choose();
    skip_busy_hosts();
    if (!plan.entries.empty()) {
      const RunSummary first = run_first(plan);
      judge_night(plan, first);
    }
    add_hosts();
    find_unchecked(night_, request_.unchecked_days);
    keep_findings();
    night_.hooks = call_hooks(request_.hooks, night_.findings);
    night_.seconds = elapsed_s();
    return std::move(night_);
  }

 private:
  double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  /// Skips busy hosts; the oldest checks come first next time.
  void skip_busy_hosts() {
    for (const Host& host : request_.run.plan.inventory.hosts)
      if (const auto busy = request_.busy.find(host.name); busy != request_.busy.end())
        night_.skipped_checks.push_back(
            {host.name, "", index_.age_s(host.name),
             "node is " + busy->second + "; nightly runs only on idle nodes"});
  }

  Plan choose() {
    if (!request_.choose) return request_.run.plan;
    NightTime time{request_.budget_s, request_.reserve, request_.run.dispatcher.parallel, begin_ns_,
                   last_night_ns(request_.database, night_.suite)};
    NightPlan chosen = plan_night(request_.run.plan, index_, time);
    night_.skipped_checks = std::move(chosen.skipped_checks);
    night_.value = chosen.value;
    night_.exact = chosen.exact;
    if (chosen.plan.entries.empty())
      say(Level::warning, "no check fits the budget, or none can run");
    return std::move(chosen.plan);
  }

  RunRequest labelled(const Plan& plan, const std::string& label, const std::string& value) const {
    RunRequest request = request_.run;
    request.plan = plan;
    request.labels[label] = value;
    return request;
  }

  /// When the budget less `reserve` ends.
  Clock::time_point end_of(double reserve) const {
    return after(Seconds{std::max(0.0, request_.budget_s * (1.0 - reserve) - elapsed_s())});
  }

  /// No job starts after the end.
  fs::path execute_within(RunRequest request, double reserve) {
    request.dispatcher.end = end_of(reserve);
    const Executed run = execute(request, catalogue_, site_);
    night_.interrupted |= !run.finished;
    return run.directory.path();
  }

  std::vector<fs::path> run_chosen(const Plan& plan) {
    const RunRequest request = labelled(plan, kNightLabel, format_time(begin_ns_));
    if (request_.resume.empty()) return {execute_within(request, request_.reserve)};
    const NodeBatches batches = run_on_nodes(request, request_.resume, end_of(request_.reserve));
    night_.interrupted |= batches.interrupted;
    for (const std::string& hosts : batches.waiting)
      night_.skipped_checks.push_back(
          {hosts, "", index_.age_s(hosts), "Slurm did not start its job in time"});
    return batches.runs;
  }

  RunSummary take(const fs::path& run) {
    Taken taken = take_run(run, request_.database, night_.interrupted);
    night_.indexed &= taken.indexed;
    return std::move(taken.report);
  }

  RunSummary run_first(const Plan& plan) {
    RunSummary report;
    for (const fs::path& run : run_chosen(plan)) {
      runs_.push_back(run);
      night_.runs.push_back(run.filename());
      RunSummary part = take(run);
      for (const JobResult& job : part.jobs) run_of_job_[job.job.id] = part.run;
      add_part(std::move(part), report);
    }
    if (!night_.runs.empty()) night_.run = night_.runs.front();
    for (const JobResult& job : report.jobs)
      for (const std::string& host : job.job.hosts) {
        NightHost& one = hosts_[host];
        ++one.planned;
        if (job.outcome == Status::ok) ++one.ok;
      }
    return report;
  }

  void judge_night(const Plan& plan, const RunSummary& first) {
    const NightHistory database(request_.database, index_, begin_ns_);
    const HistoryOf history = [&](const SeriesIdentity& series) { return database.of(series); };
    Suspicions suspicions = find_suspects(first, history, request_.rule.suspicion);
    database.ask_regression_report(first, night_.runs, suspicions);
    for (NightFinding& finding : suspicions.findings) finding.run = run_of_job_[finding.job];
    night_.tested = suspicions.tested;
    night_.no_history = suspicions.no_history;
    night_.not_clean = suspicions.not_clean;
    night_.findings = suspicions.findings;
    if (suspicions.findings.empty() || night_.interrupted) return;
    const double left_s = std::max(0.0, request_.budget_s - elapsed_s());
    Reruns reruns = plan_reruns(plan, suspicions, request_.reruns, left_s);
    night_.findings = reruns.no_time;
    if (reruns.plan.entries.empty()) return;
    say(Level::info, fmt::format("{} suspicions: rerunning {} jobs now", suspicions.findings.size(),
                                 reruns.plan.entries.size()));
    const fs::path again = execute_within(labelled(reruns.plan, kRerunLabel, night_.run), 0.0);
    night_.reruns.push_back(again.filename());
    const RunSummary report = take(again);
    auto judged = judge_reruns(reruns, first, report, history, request_.rule);
    night_.findings.insert(night_.findings.begin(), judged.begin(), judged.end());
  }

  void add_hosts() {
    for (const Host& host : request_.run.plan.inventory.hosts) {
      NightHost one = hosts_[host.name];
      one.host = host.name;
      one.age_s = one.ok > 0 ? elapsed_s() : index_.age_s(host.name);
      night_.hosts.push_back(std::move(one));
    }
  }

  void keep_findings() {
    for (const fs::path& run : runs_)
      if (write_findings(run, night_.findings)) take(run);
  }

  const NightRequest& request_;
  const ProbeCatalogue& catalogue_;
  const LaunchSite& site_;
  Clock::time_point begin_ = Clock::now();
  std::int64_t begin_ns_ = now_ns();
  NightPast past_;
  PastIndex index_;
  std::map<std::string, NightHost> hosts_;
  std::vector<fs::path> runs_;
  std::map<std::string, std::string> run_of_job_;
  Night night_;
};

}  // namespace

Night run_night(const NightRequest& request, const ProbeCatalogue& catalogue,
                const LaunchSite& site) {
  check_hooks(request.hooks);
  fs::create_directories(request.database.parent_path());
  const auto only_night = lock_night(request.database);
  return NightRuns(request, catalogue, site).run();
}

}  // namespace bench
