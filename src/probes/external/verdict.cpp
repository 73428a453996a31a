#include "probes/external/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace bench::external {
namespace {

constexpr const char* kSuccess = "success";

std::string with_last_output(std::string reason, const CommandReport& command) {
  if (!command.last_output.empty()) reason += "; last output: " + command.last_output;
  return reason;
}

std::string name_of(const CommandReport& command) {
  return fmt::format("the command of rank {} on {}", command.rank, printable(command.host));
}

/// The command that failed by itself, rather than those that were stopped because of it.
const CommandReport* failed_command(const std::vector<CommandReport>& commands) {
  const CommandReport* found = nullptr;
  for (const CommandReport& command : commands) {
    if (command.end.clean()) continue;
    const bool by_itself = !command.end.stopped;
    if (found == nullptr || (by_itself && found->end.stopped)) found = &command;
  }
  return found;
}

std::string stuck(const std::vector<CommandReport>& commands) {
  for (const CommandReport& command : commands)
    if (command.end.stuck > 0)
      return fmt::format("{} processes of {} could not be killed", command.end.stuck,
                         name_of(command));
  return "";
}

void judge_end(const TrainingLog& log, const FinishedRun& run, Verdict& verdict) {
  const CommandReport first = run.commands.empty() ? CommandReport{} : run.commands.front();
  const CommandReport* bad = failed_command(run.commands);
  verdict.status = Status::failed;
  if (run.timed_out) {
    verdict.status = Status::timed_out;
    verdict.reason = with_last_output(
        fmt::format("killed after its time limit of {}", format(run.deadline)), first);
  } else if (bad != nullptr) {
    verdict.reason = with_last_output(name_of(*bad) + ": " + bad->end.text(), *bad);
  } else if (log.lines() == 0) {
    verdict.reason = with_last_output("it exited successfully but printed no MLLOG line", first);
  } else if (!log.run_start()) {
    verdict.reason = with_last_output("its log has no run_start", first);
  } else if (!log.run_stop()) {
    verdict.reason = with_last_output("its log has no run_stop", first);
  } else if (!(log.run_time()->value > 0.0)) {
    verdict.reason =
        fmt::format("run_stop is not after run_start: {} s between them", log.run_time()->value);
  } else {
    verdict.status = Status::ok;
  }
  if (const std::string more = stuck(run.commands); !more.empty()) {
    verdict.status = worse(verdict.status, Status::failed);
    verdict.reason += (verdict.reason.empty() ? "" : "; ") + more;
  }
}

/// The best value; NaN if none is a number.
double best_of(const TrainingLog& log) {
  double best = std::nan("");
  for (const LoggedEvaluation& one : log.evaluations())
    if (!(log.goal().gap(one.value) >= log.goal().gap(best))) best = one.value;
  return best;
}

std::string why_not_converged(const TrainingLog& log) {
  const Goal& goal = log.goal();
  const std::string key = printable(goal.key);
  if (!goal.target) return "no target was given, so convergence is unknown";
  if (log.evaluations().empty()) return "it logged no " + key;
  if (log.meeting() == nullptr)
    return fmt::format("best {} is {:.6g}, target {:.6g} ({} is better)", key, best_of(log),
                       *goal.target, goal.lower_is_better ? "lower" : "higher");
  if (log.status() != kSuccess)
    return fmt::format("run_stop has status '{}', not 'success'", printable(log.status()));
  return "";
}

TrainingCheck check_clock(const TrainingLog& log, const FinishedRun& run) {
  const LoggedLine &start = *log.run_start(), &stop = *log.run_stop();
  const double tolerance = run.clock_tolerance.value;
  // In f64: the times of a log that counts microseconds are too large for nanoseconds in 64 bits.
  const auto late = [](const LoggedLine& logged) {
    return 1e-9 * (static_cast<double>(logged.arrived_ns) -
                   1e6 * static_cast<double>(logged.line.time_ms));
  };
  const double ours = (stop.arrived - start.arrived).value;
  const double theirs = log.run_time()->value;
  const bool one_rank = start.rank == stop.rank;
  const bool held = !(std::abs(late(start)) > tolerance || std::abs(late(stop)) > tolerance) &&
                    !(one_rank && std::abs(ours - theirs) > tolerance);
  std::string text = fmt::format(
      "run_start to run_stop takes {:.3f} s by the log and {:.3f} s by arrival; the lines arrived "
      "{:+.3f} s and {:+.3f} s after their timestamps",
      theirs, ours, late(start), late(stop));
  if (!held)
    text +=
        fmt::format(", more than {:.3g} s: the clock is wrong or output is not flushed", tolerance);
  return {"clock", held, text};
}

TrainingCheck check_status(const TrainingLog& log) {
  const bool success = log.status() == kSuccess;
  const std::string says = "run_stop has status '" + printable(log.status()) + "'";
  if (log.status().empty()) return {"run_stop", false, "run_stop has no status"};
  if (!log.goal().target) return {"run_stop", true, says + "; there is no target"};
  const bool met = log.meeting() != nullptr;
  const std::string seen = met ? ", and the target was met" : ", and the target was never met";
  return {"run_stop", success == met, says + seen};
}

void check_seed(const TrainingLog& log, std::uint64_t given, std::vector<TrainingCheck>& checks) {
  if (log.seeds().empty()) return;
  const bool held = std::ranges::find(log.seeds(), Json(given)) != log.seeds().end();
  checks.push_back({"seed", held,
                    fmt::format("the log has seed {}, but {} was given",
                                printable(excerpt(log.seeds().front())), given)});
}

void check_target(const TrainingLog& log, std::vector<TrainingCheck>& checks) {
  const auto own = log.said().find("target_accuracy");
  if (!log.goal().target || own == log.said().end() || !own->second.is_number()) return;
  checks.push_back({"target", own->second == Json(*log.goal().target),
                    fmt::format("the log has target_accuracy {}, but {} was given",
                                excerpt(own->second), *log.goal().target)});
}

}  // namespace

Verdict judge(const TrainingLog& log, const FinishedRun& run) {
  Verdict verdict;
  judge_end(log, run, verdict);
  verdict.why_not = why_not_converged(log);
  if (log.troubles() > 0)
    verdict.checks.push_back({"mllog", false,
                              fmt::format("{} MLLOG lines cannot be parsed; first: {}",
                                          log.troubles(), log.first_trouble())});
  if (log.run_time()) {
    verdict.checks.push_back(check_clock(log, run));
    verdict.checks.push_back(check_status(log));
  }
  check_seed(log, run.seed, verdict.checks);
  check_target(log, verdict.checks);
  const auto broken = std::ranges::find(verdict.checks, false, &TrainingCheck::held);
  if (verdict.status == Status::ok && broken != verdict.checks.end()) {
    verdict.status = Status::invalid;
    verdict.reason = broken->check + ": " + broken->text;
  }
  verdict.converged = verdict.status == Status::ok && verdict.why_not.empty();
  return verdict;
}

}  // namespace bench::external
