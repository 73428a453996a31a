#include <limits>

#include "core/locations.h"
#include "core/schema.h"
#include "results/output/document/markdown.h"
#include "results/output/verdicts/night_output.h"
#include "results/run/run_summary.h"
#include "results/verdicts/nightly/night.h"
#include "results/verdicts/nightly/past.h"
#include "results/verdicts/nightly/suspects.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/rendered.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

HistoryOf always(std::vector<double> values) {
  return [values](const SeriesIdentity&) { return values; };
}

const std::vector<double> kSteadyRuns = {100.1, 99.7, 100.4, 100.0, 99.9,
                                         100.3, 99.8, 100.2, 100.0, 99.6};

RunFixture one_night(double value) {
  RunFixture run;
  run.job("1", "speed", "null").job("2", "other", "clock");
  run.add("1", samples("value", value, 40)).outcome("1");
  return run.outcome("2").end();
}

Suspicions suspects_of(const RunFixture& run, const HistoryOf& history = always(kSteadyRuns)) {
  return find_suspects(make_run_summary(run.records()), history, {});
}

NightFinding confirmed(const std::string& host, const std::string& case_name) {
  NightFinding finding;
  finding.state = SuspicionState::confirmed;
  finding.host = host;
  finding.case_name = finding.probe = case_name;
  finding.device = "host";
  finding.text = "it came again";
  return finding;
}

/// Two jobs whose CPU a quota of half a core withheld for that long of each second.
RunFixture throttled_night(double first_s, double second_s) {
  RunFixture run;
  for (const auto& [job, throttled_s] : {std::pair{"1", first_s}, std::pair{"2", second_s}}) {
    Samples series = samples("value", 100, 40);
    series.quality.throttled_s = throttled_s;
    series.quality.wall_s = 1.0;
    series.quality.cpu_share = 0.9 - throttled_s;
    run.job(job, std::string("case") + job, "null").add(job, series).outcome(job);
  }
  return run.add("1", Facts{"host", {{"cpu_quota_cores", 0.5}}}).end();
}

std::vector<NightFinding> withheld_of(const RunFixture& run, const std::vector<double>& quotas) {
  const QuotasOf earlier = [&](const std::string& host) {
    return host == "node1" ? quotas : std::vector<double>{};
  };
  std::vector<NightFinding> found =
      find_suspects(make_run_summary(run.records()), always(kSteadyRuns), {}, earlier).findings;
  std::erase_if(found, [](const auto& one) { return one.kind != SuspicionKind::cpu_quota; });
  return found;
}

}  // namespace

TEST_CASE("a CPU quota that earlier runs did not have and that withholds the CPU is suspicious") {
  const double none = std::numeric_limits<double>::infinity();
  const auto found = withheld_of(throttled_night(0.2, 0.5), {0.5, none, none});
  REQUIRE(found.size() == 1);
  CHECK(found[0].host == "node1");
  CHECK(found[0].job == "2");
  CHECK(found[0].text ==
        "the CPU quota of its cgroup is 0.5 cores, in 3 earlier runs none; it withheld the CPU in "
        "2 of 2 jobs; they got as little as 40 % of their CPU time");
  CHECK(withheld_of(throttled_night(0.02, 0.5), {2.0}).size() == 1);
}

TEST_CASE("a CPU quota that is usual, unknown before or withholds nothing is not suspicious") {
  CHECK(withheld_of(throttled_night(0.2, 0.5), {0.5, 0.5, 2.0}).empty());
  CHECK(withheld_of(throttled_night(0.2, 0.5), {}).empty());
  CHECK(withheld_of(throttled_night(0.02, 0.02), {2.0}).empty());
}

TEST_CASE("a value far below its history is suspicious, a usual one is not") {
  const Suspicions slow = suspects_of(one_night(95));
  CHECK(slow.tested == 1);
  REQUIRE(slow.findings.size() == 1);
  CHECK(slow.findings[0].kind == SuspicionKind::slower);
  CHECK(slow.findings[0].host == "node1");
  CHECK(slow.findings[0].job == "1");
  CHECK(effect(slow.findings[0]) == Approx(-0.05).epsilon(0.01));
  CHECK(slow.findings[0].also_ran == std::vector<std::string>{"clock on host"});
  CHECK(suspects_of(one_night(100)).findings.empty());
  CHECK(suspects_of(one_night(105)).findings.empty());
}

TEST_CASE("a significant loss below the tolerance is not suspicious") {
  const std::vector<double> still(20, 100.0);
  CHECK(suspects_of(one_night(99.5), always(still)).findings.empty());
  CHECK(suspects_of(one_night(98.5), always(still)).findings.size() == 1);
}

TEST_CASE("series without enough history or disturbed ones are counted, not suspicious") {
  CHECK(suspects_of(one_night(50), always({100, 100})).no_history == 1);
  RunFixture busy;
  Samples stolen = samples("value", 50, 40);
  stolen.flags.assign(40, kStolen);
  busy.job("1", "speed", "null").add("1", stolen).outcome("1").end();
  const Suspicions none = suspects_of(busy);
  CHECK(none.not_clean == 1);
  CHECK(none.tested == 0);
  CHECK(none.findings.empty());
}

TEST_CASE("failed jobs, wrong results and missed bounds are suspicious") {
  RunFixture run;
  run.plan["gates"] = {{"bound", {{{"metric", "value"}, {"min", 200}}}}};
  run.job("1", "crash", "null").job("2", "wrong", "null").job("3", "bound", "null");
  Samples wrong = samples("value", 100, 40);
  wrong.outcome = Status::invalid;
  wrong.reason = "a bit was flipped";
  run.outcome("1", Status::failed, "SIGSEGV")
      .add("2", wrong)
      .outcome("2", Status::invalid, "wrong");
  run.add("3", samples("value", 100, 40)).outcome("3").end();
  const Suspicions found = suspects_of(run);
  REQUIRE(found.findings.size() == 3);
  CHECK(found.findings[0].kind == SuspicionKind::wrong);
  CHECK_THAT(found.findings[0].text, Contains("bit was flipped"));
  CHECK(found.findings[1].kind == SuspicionKind::failed);
  CHECK_THAT(found.findings[1].text, Contains("SIGSEGV"));
  CHECK_THAT(found.findings[2].text, Contains("bound of the suite"));
}

TEST_CASE("jobs that never ran do not fail a host") {
  RunFixture run;
  run.job("1", "late", "null").outcome("1", Status::skipped, "no time left in the budget").end();
  CHECK(suspects_of(run).findings.empty());
}

TEST_CASE("a night's verdict: confirmed fails, unsettled and unchecked do not pass, dropped does") {
  Night night;
  night.hosts = {{"a", 1, 1, 0.0}};
  night.tested = 2;
  CHECK(exit_code_of(night) == ExitCode::ok);
  night.findings = {confirmed("a", "gemm")};
  CHECK(exit_code_of(night) == ExitCode::failed);
  night.measured_only = true;  // a failed job has no value
  CHECK(exit_code_of(night) == ExitCode::not_measured);
  night.findings[0].metric = "gemm.throughput";
  CHECK(exit_code_of(night) == ExitCode::failed);
  night.findings[0].state = SuspicionState::dropped;
  CHECK(exit_code_of(night) == ExitCode::ok);
  night.findings[0].state = SuspicionState::unsettled;
  CHECK(exit_code_of(night) == ExitCode::not_measured);
  night.findings.clear();
  night.hosts.push_back({"b", 0, 0, 8 * kDay_s});
  night.hosts.push_back({"c", 0, 0, std::numeric_limits<double>::infinity()});
  find_unchecked(night, 7);
  CHECK(exit_code_of(night) == ExitCode::not_measured);
  REQUIRE(night.findings.size() == 2);
  CHECK_THAT(night.findings[0].text, Contains("8.0 days"));
  CHECK_THAT(night.findings[1].text, Contains("ever"));
  night.hosts = {{"a", 3, 0, 0.0}};
  night.findings.clear();
  CHECK(exit_code_of(night) == ExitCode::not_measured);
}

TEST_CASE("a night that judged nothing, or not all it measured, does not pass") {
  Night night;
  night.hosts = {{"a", 2, 2, 0.0}, {"b", 2, 2, 0.0}};
  night.tested = 3;
  REQUIRE(verdict_of(night) == Verdict::pass);
  CHECK(why_inconclusive(night) == "");
  night.hosts[1].disturbed = 1;
  CHECK(verdict_of(night) == Verdict::inconclusive);
  CHECK_THAT(why_inconclusive(night), Contains("1 jobs have no clean samples"));
  CHECK_THAT(to_junit(night), Contains("<error"));
  night.hosts[1] = {"b", 2, 0, 0.0};
  CHECK(verdict_of(night) == Verdict::inconclusive);
  CHECK_THAT(why_inconclusive(night), Contains("1 hosts have no successful job"));
  night.hosts[1] = {"b", 0, 0, 0.0};  // nothing was asked of it
  CHECK(verdict_of(night) == Verdict::pass);
  night.tested = 0;
  night.not_clean = 3;
  CHECK(exit_code_of(night) == ExitCode::not_measured);
  night.no_history = 1;
  CHECK_THAT(why_inconclusive(night), Contains("history"));
}

TEST_CASE("the JSON of a night matches its schema, and its text has no control bytes") {
  Night night;
  night.run = "r";
  night.hosts = {{"a", 1, 1, std::numeric_limits<double>::infinity()}};
  night.skipped_checks = {{"a\x1b[2J", "burn", kNoValue, "no time left"}};
  night.findings = {confirmed("n\x1b[31m1", "gemm")};
  night.hooks = {{"/bin/true", "a", "exit code 1"}};
  Schema::load(schema_path("nightly")).check(to_json(night), "nightly");
  const std::string text = to_text(night, TextStyle{});
  CHECK_THAT(text,
             Contains("confirmed") && Contains("first in line tomorrow") && Contains("never"));
  CHECK_THAT(text, !Contains("\x1b"));
  CHECK_THAT(text, Contains("hook /bin/true for a: exit code 1"));
  CHECK_THAT(to_markdown(to_document(night)),
             Contains("first in line tomorrow") && Contains("never") && Contains("exit code 1"));
}

TEST_CASE(
    "the healthiest hosts come first, and those with an open finding or unchecked are unfit") {
  FaultCatalogue faults;
  faults.faults = {{"gpu", {}}};
  faults.detectors = {{"*", "", "gpu", 0.5}};
  const std::int64_t now = 100 * static_cast<std::int64_t>(kDay_s * 1e9);
  const auto day = [&](double ago) { return now - static_cast<std::int64_t>(ago * kDay_s * 1e9); };
  const auto check = [&](const std::string& host, double ago) {
    return CheckPast{host, "gemm", "gemm", "host", day(50), day(ago), 9, 1.0};
  };
  const NightPast past{
      {check("fine", 1), check("mended", 1), check("open", 3), check("stale", 20)},
      {{day(5), confirmed("mended", "gemm")}, {day(2), confirmed("open", "gemm")}}};
  const PastIndex index(past, faults, now);
  const auto list = by_health({"open", "never", "stale", "mended", "fine"}, past, index, 7);
  REQUIRE(list.size() == 5);
  CHECK(list[0].host == "fine");
  CHECK(list[1].host == "mended");
  CHECK(list[0].unfit.empty());
  CHECK(list[1].unfit.empty());
  for (const HostHealth& host : list) {
    if (host.host == "open") CHECK_THAT(host.unfit, Contains("gemm since"));
    if (host.host == "stale") CHECK_THAT(host.unfit, Contains("20.0 days"));
    if (host.host == "never") CHECK_THAT(host.unfit, Contains("never checked"));
  }
}
