#include "runner/nightly/night_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/log.h"
#include "core/private_folder.h"
#include "core/text.h"
#include "core/time.h"
#include "results/run/file_system.h"
#include "results/run/run_records.h"
#include "results/run/run_summary.h"
#include "results/verdicts/nightly/finding.h"
#include "runner/dispatch/run_directory.h"
#include "runner/launch/process.h"
#include "runner/launch/program_output.h"
#include "runner/launch/rank_process.h"
#include "runner/nightly/night_past.h"
#include "runner/nightly/night_plan.h"
#include "runner/nightly/node_batches.h"
#include "runner/site/find_run.h"

namespace bench {
namespace {

// Indexes the runs of a night, and stores its findings in them.

struct Taken {
  RunSummary report;    // also if the database could not index the run
  bool indexed = true;  // false: the reason was logged
};

/// `hurry`: after ^C, do not wait for other writers.
Taken take_run(const std::filesystem::path& run, const std::filesystem::path& database,
               bool hurry) {
  if (auto report = index_run(run, database, hurry)) return {std::move(*report), true};
  return {make_run_summary(read_run(run)), false};
}

/// Held while a night runs, as two would disturb each other. Throws Error(environment) naming the
/// holder.
std::unique_ptr<FileLock> lock_night(const std::filesystem::path& database) try {
  std::filesystem::path lock = database;
  lock += ".nightly.lock";
  return std::make_unique<FileLock>(lock, std::chrono::milliseconds(0));
} catch (const Error& error) {
  throw Error(ErrorKind::environment,
              "another night is running on this database: " + std::string(error.what()),
              "wait for it to finish, or use another database with --db FILE");
}

/// Merges the runs of the nodes, which are parts of one plan.
void add_part(RunSummary part, RunSummary& whole) {
  const std::size_t before = whole.results.size();
  for (GateResult& gate : part.gates) {
    if (gate.series) *gate.series += before;
    whole.gates.push_back(std::move(gate));
  }
  std::ranges::move(part.results, std::back_inserter(whole.results));
  std::ranges::move(part.machines, std::back_inserter(whole.machines));
  std::ranges::move(part.jobs, std::back_inserter(whole.jobs));
}

/// Appends the findings of the run to it as events (kFindingEvent), for rebuilt databases. Returns
/// whether there were any. Throws Error(environment).
bool write_findings(const std::filesystem::path& run, const std::vector<NightFinding>& findings) {
  const auto is_of_run = [&](const NightFinding& finding) { return run.filename() == finding.run; };
  if (std::ranges::none_of(findings, is_of_run)) return false;
  Spool spool = Spool::append_to(run / "records.jsonl");
  for (const NightFinding& finding : findings)
    if (is_of_run(finding)) spool.append(own_record("", Event{kFindingEvent, to_json(finding)}));
  spool.sync();
  return true;
}

constexpr std::size_t kTalkKept = 4000;

std::string run_hook(const std::string& program, const std::string& json, Seconds patience) {
  Process process({{program}, {}});
  Printed printed;
  if (!run_until(process, after(patience), kTalkKept, printed, json))
    return "timed out after " + format(patience) + " and was killed";
  const Exit exit = process.reap();
  return exit.clean()
             ? ""
             : exit.text() + (printed.error.empty() ? "" : ": " + last_line(printed.error));
}

}  // namespace

void check_hooks(const std::vector<std::string>& programs) {
  for (const std::string& program : programs) find_program(program);
}

std::vector<HookCall> call_hooks(const std::vector<std::string>& programs,
                                 const std::vector<NightFinding>& findings, Seconds patience) {
  std::vector<HookCall> calls;
  for (const NightFinding& finding : findings) {
    if (finding.state == SuspicionState::dropped) continue;
    for (const std::string& program : programs) {
      HookCall call{program, finding.host};
      try {
        call.trouble = run_hook(program, dump(to_json(finding)) + "\n", patience);
      } catch (const Error& error) {
        call.trouble = error.what();
      }
      calls.push_back(std::move(call));
    }
  }
  return calls;
}

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

  /// No job starts after `end`.
  RunRequest run_of(const Plan& plan, const std::string& label, const std::string& value,
                    Clock::time_point end) const {
    RunRequest request = request_.run;
    request.plan = plan;
    request.labels[label] = value;
    request.dispatcher.end = end;
    return request;
  }

  /// When the budget less `reserve` ends.
  Clock::time_point end_of(double reserve) const {
    return after(Seconds{std::max(0.0, request_.budget_s * (1.0 - reserve) - elapsed_s())});
  }

  fs::path execute_part(const RunRequest& request) {
    const Executed run = execute(request, catalogue_, site_);
    night_.interrupted |= !run.finished;
    return run.directory.path();
  }

  std::vector<fs::path> run_chosen(const Plan& plan) {
    const Clock::time_point end = end_of(request_.reserve);
    const RunRequest request = run_of(plan, kNightLabel, format_time(begin_ns_), end);
    if (request_.resume.empty()) return {execute_part(request)};
    const NodeBatches batches = run_on_nodes(request, request_.resume, end);
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
    count_jobs(report.jobs, hosts_);
    return report;
  }

  void judge_night(const Plan& plan, const RunSummary& first) {
    const NightHistory database(request_.database, index_, begin_ns_);
    const HistoryOf history = [&](const SeriesIdentity& series) { return database.of(series); };
    const QuotasOf quotas = [&](const std::string& host) { return database.quotas_of(host); };
    Suspicions suspicions = find_suspects(first, history, request_.rule.suspicion, quotas);
    database.ask_regression_report(first, night_.runs, suspicions);
    for (NightFinding& finding : suspicions.findings) finding.run = run_of_job_[finding.job];
    night_.tested = suspicions.tested;
    night_.no_history = suspicions.no_history;
    night_.not_clean = suspicions.not_clean;
    night_.findings = suspicions.findings;
    night_.trends = std::move(suspicions.trends);
    if (suspicions.findings.empty() || night_.interrupted) return;
    const double left_s = std::max(0.0, request_.budget_s - elapsed_s());
    Reruns reruns = plan_reruns(plan, suspicions, request_.reruns, left_s);
    night_.findings = reruns.no_time;
    if (reruns.plan.entries.empty()) return;
    say(Level::info, fmt::format("{} suspicions: rerunning {} jobs now", suspicions.findings.size(),
                                 reruns.plan.entries.size()));
    const fs::path again = execute_part(run_of(reruns.plan, kRerunLabel, night_.run, end_of(0.0)));
    night_.reruns.push_back(again.filename());
    const RunSummary report = take(again);
    auto judged = judge_reruns(reruns, first, report, history, request_.rule);
    night_.findings.insert(night_.findings.begin(), judged.begin(), judged.end());
  }

  void add_hosts() {
    for (const Host& host : request_.run.plan.inventory.hosts) {
      NightHost one = hosts_[host.name];
      one.host = host.name;
      one.age_s = one.ok > one.disturbed ? elapsed_s() : index_.age_s(host.name);
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
  std::error_code failure;  // lock_night() reports it
  make_user_folders(request.database.parent_path(), failure);
  const auto only_night = lock_night(request.database);
  return NightRuns(request, catalogue, site).run();
}

}  // namespace bench
