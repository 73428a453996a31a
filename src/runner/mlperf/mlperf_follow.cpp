#include "runner/mlperf/mlperf_follow.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/text.h"
#include "results/mlperf/follow/follow_log.h"
#include "results/mlperf/follow/run_goal.h"
#include "results/mlperf/rules/official_check.h"
#include "results/mlperf/rules/rule_set_choice.h"
#include "runner/commands/command.h"
#include "runner/dispatch/interrupts.h"

namespace bench {
namespace {

constexpr int kPoll_ms = 1000;

/// The rules and reference points for a log.
class Rules {
 public:
  explicit Rules(const FollowOptions& options)
      : asked_(options.rule_set),
        sets_(asked_ == "auto" ? mlperf::load_rule_sets(options.rule_sets)
                               : std::vector{mlperf::load_rule_set(options.rule_sets, asked_)}) {}

  const mlperf::RuleSet& of(const mlperf::Log& log) const {
    if (sets_.size() == 1) return sets_.front();
    const std::string version = choose_rule_set(log, sets_).version;
    return *std::ranges::find(sets_, version, &mlperf::RuleSet::version);
  }

  mlperf::RunGoal goal(const mlperf::Log& log) {
    const mlperf::RuleSet& rules = of(log);
    return goal_of(mlperf::facts_of(log), rules, points_of(rules.version));
  }

 private:
  const mlperf::RcpSets& points_of(const std::string& version) {
    const auto folder = mlperf::rcp_folder();
    if (const auto known = points_.find(version); known != points_.end()) return known->second;
    const auto there = mlperf::rcp_rulesets(folder);
    const bool has = std::ranges::find(there, version) != there.end();
    return points_[version] = has ? mlperf::load_rcps(folder, version) : mlperf::RcpSets();
  }

  std::string asked_;
  std::vector<mlperf::RuleSet> sets_;
  std::map<std::string, mlperf::RcpSets> points_;
};

void print_progress(const mlperf::ProgressReport& report, bool json) {
  const std::string line =
      json ? dump(to_json(report)) : format_time(now_ns()) + " " + to_text(report);
  print(line + "\n");
}

ExitCode verdict_on(const FollowOptions& options, const Rules& rules) {
  const mlperf::Log log = mlperf::read_log(options.path);
  const mlperf::RuleSet& set = rules.of(log);
  const mlperf::OfficialVerdict verdict = official_check(log, set, options.warnings_are_errors);
  const bool pass = verdict.pass && !verdict.crash;
  if (options.json)
    print(dump({{"phase", "judged"},
                {"rule_set", set.version},
                {"official", pass ? "pass" : "fail"},
                {"findings", verdict.findings.size()}}) +
          "\n");
  else
    print(
        fmt::format("official verdict by rule set {}: {}\n", set.version,
                    pass ? "pass"
                         : fmt::format("fail, {} findings; list them with: benchctl mlperf check {}",
                                       verdict.findings.size(), printable(options.path.string()))));
  return pass ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

ExitCode follow_run(const FollowOptions& options) {
  Rules rules(options);
  const Interrupts interrupts;
  mlperf::FollowCallbacks callbacks;
  callbacks.goal = [&](const mlperf::Log& log) { return rules.goal(log); };
  callbacks.report = [&](const mlperf::ProgressReport& report) {
    print_progress(report, options.json);
  };
  callbacks.now_ms = [] { return static_cast<double>(now_ns()) / 1e6; };
  callbacks.wait = [&] {
    pollfd signal{.fd = interrupts.fd(), .events = POLLIN, .revents = 0};
    ::poll(&signal, 1, kPoll_ms);
    return interrupts.count() == 0;
  };
  if (!follow_log(options.path, callbacks)) return ExitCode::interrupted;
  return verdict_on(options, rules);
}

}  // namespace bench
