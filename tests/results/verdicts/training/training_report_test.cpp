// What trainings say together, and what must not count.
#include "results/verdicts/training/training_report.h"

#include <cmath>

#include "results/verdicts/training/training_summary.h"
#include "tests/results/training_fixture.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Json training_check(const char* name, bool held) {
  return {{"check", name}, {"held", held}, {"text", "looked at 100 steps"}};
}

}  // namespace

TEST_CASE("trainings with five seeds give olympic mean, spread and throughput") {
  const TrainingReport report = training_report_of(trainings_of({10.0, 50.0, 12.0, 11.0, 13.0}));
  REQUIRE(report.groups.size() == 1);
  const TrainingGroup& group = report.groups[0];
  CHECK(group.time.mean == Approx(12.0));
  CHECK(group.runs[1].seed == 2);
  CHECK(group.runs[1].samples_to_target == Approx(5e6));
  CHECK(group.samples.n == 5);
  CHECK(group.items_per_second == Approx(300e3));
  CHECK(group.mfu == Approx(0.18));
  CHECK(group.flops == Approx(300e3 * 0.6e6));
  CHECK(group.setup.batch == 32);
  CHECK(report.exit_code == ExitCode::ok);
  CHECK(report.warnings.empty());
}

TEST_CASE("a training above its target has not converged, whatever its time") {
  TrainingFixture fixture;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) fixture.add({.seed = seed});
  fixture.add({.seed = 5, .gap = 0.2, .converged = false});
  const TrainingReport one = training_report_of(fixture.records());
  CHECK(one.groups[0].runs[4].state == TrainingState::not_converged);
  CHECK_THAT(one.groups[0].runs[4].reason, Contains("0.2") && Contains("0.12"));
  CHECK(one.groups[0].time.mean == Approx(10.0));
  CHECK(one.groups[0].time.without == 1);
  CHECK(one.groups[0].samples.n == 4);
  CHECK(one.exit_code == ExitCode::failed);

  fixture.add({.seed = 6, .gap = 0.3, .converged = false});
  const TrainingReport two = training_report_of(fixture.records());
  CHECK(std::isnan(two.groups[0].time.mean));
  CHECK_THAT(two.groups[0].time.why, Contains("void"));
}

TEST_CASE("slowdowns of a training's steps are warnings, each as last reported") {
  TrainingFixture fixture;
  for (const std::uint64_t seed : {1U, 2U}) fixture.add({.seed = seed});
  TrainingSlowdown slowdown{.first = 90, .usual_s = 0.05, .slow_s = 0.1, .phase = "data"};
  fixture.run.add("t2", Event{kTrainingSlowdownEvent, to_json(slowdown)});
  slowdown.end = 130;
  fixture.run.add("t2", Event{kTrainingSlowdownEvent, to_json(slowdown)});
  slowdown.first = 200;
  slowdown.end = 220;
  fixture.run.add("t2", Event{kTrainingSlowdownEvent, to_json(slowdown)});
  fixture.run.add("t1", Event{kTrainingSlowdownEvent, {{"first", "damaged"}}});
  const TrainingReport report = training_report_of(fixture.records());
  CHECK(report.groups[0].runs[0].slowdowns.empty());
  CHECK(report.groups[0].runs[1].slowdowns.size() == 2);
  REQUIRE(report.warnings.size() == 1);
  CHECK(report.warnings[0] ==
        setup_words(report.groups[0]) +
            ", seed 2: steps 90 to 129 were slower: 100.0 ms instead of 50.00 ms (+100 %), mostly "
            "in data; 1 more");
}

TEST_CASE("a resumed training is left out of the mean time to train unless asked for") {
  TrainingFixture fixture;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) fixture.add({.seed = seed});
  fixture.add({.seed = 5, .seconds = 3.0, .resumed_from = 120});
  const std::vector<RunRecords> records{fixture.records()};
  const TrainingGroup without = make_training_report(records).groups.at(0);
  CHECK(without.time.runs == 4);
  CHECK(without.seconds.mean == Approx(10.0));
  CHECK(without.samples.n == 5);  // resumed bit for bit
  CHECK(without.runs[4].resumed_from == 120);
  CHECK_THAT(mean_words(without), Contains("1 resumed run left out"));
  const auto with = make_training_report(records, {}, Resumed::counted).groups.at(0);
  CHECK(with.time.runs == 5);
  CHECK(with.seconds.mean == Approx(8.6));
  CHECK_THAT(mean_words(with), Contains("includes 1 resumed run"));
}

TEST_CASE("a resumed training that missed its target counts as a miss") {
  TrainingFixture fixture;
  for (const std::uint64_t seed : {1U, 2U, 3U}) fixture.add({.seed = seed});
  fixture.add({.seed = 4, .gap = 0.2, .converged = false, .resumed_from = 120});
  CHECK(training_report_of(fixture.records()).groups.at(0).time.without == 1);
}

TEST_CASE("without a training in one piece there is no time to train, and the reason says so") {
  const TrainingReport report =
      training_report_of(TrainingFixture().add({.resumed_from = 120}).records());
  CHECK(std::isnan(report.groups[0].time.mean));
  CHECK_THAT(mean_words(report.groups[0]),
             Contains("every run that ended was resumed") && Contains("--include-resumed"));
  CHECK(report.exit_code == ExitCode::ok);
}

TEST_CASE("a training that reports convergence without evidence is invalid") {
  for (const MadeTraining& made :
       {MadeTraining{.gap = 0.13}, MadeTraining{.gap = kNoValue}, MadeTraining{.seconds = 0.0},
        MadeTraining{.samples = -1.0}, MadeTraining{.target = kNoValue}}) {
    const TrainingReport report = training_report_of(TrainingFixture().add(made).records());
    CHECK(report.groups[0].runs[0].state == TrainingState::invalid);
    CHECK(std::isnan(report.groups[0].time.mean));
    CHECK(report.exit_code == ExitCode::failed);
  }
}

TEST_CASE("an external training log may lack sample counts") {
  const TrainingReport report =
      training_report_of(TrainingFixture().add({.samples = kNoValue}).records());
  CHECK(report.groups[0].runs[0].state == TrainingState::converged);
  CHECK(report.groups[0].samples.n == 0);
}

TEST_CASE("a failed check excludes a training from time, spread and throughput") {
  TrainingFixture fixture;
  fixture.add({.seed = 1, .checks = {training_check("every parameter moves", true)}});
  fixture.add({.seed = 2,
               .checks = {training_check("every parameter moves", true),
                          training_check("replicas agree", false)}});
  const TrainingReport report = training_report_of(fixture.records());
  const TrainingRun& broken = report.groups[0].runs[1];
  CHECK(broken.state == TrainingState::invalid);
  CHECK_THAT(broken.reason, Contains("replicas agree"));
  CHECK(broken.checks == 2);
  CHECK(broken.faults.size() == 1);
  CHECK_FALSE(was_timed(broken));
  CHECK_THAT(report.groups[0].time.why, Contains("void"));
  CHECK(report.exit_code == ExitCode::failed);
}

TEST_CASE("a check without a result counts as failed") {
  TrainingFixture fixture;
  fixture.add({.checks = {{{"check", "replicas agree"}}, "nonsense"}});
  CHECK(training_report_of(fixture.records()).groups[0].runs[0].faults.size() == 2);
}

TEST_CASE("a crashed training counts in its setup even without records") {
  TrainingFixture fixture;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U})
    fixture.add({.seed = seed, .seconds = 9.0 + static_cast<double>(seed)});
  for (const std::uint64_t seed : {5U, 6U}) {
    const std::string job = fixture.plan({}, TrainingFixture::params_of({.seed = seed}));
    fixture.run.outcome(job, Status::failed, "killed by signal 9");
  }
  const TrainingReport report = training_report_of(fixture.records());
  REQUIRE(report.groups.size() == 1);
  CHECK(report.groups[0].runs[5].state == TrainingState::failed);
  CHECK(report.groups[0].runs[5].seed == 6);
  CHECK(report.groups[0].time.without == 2);
  CHECK(std::isnan(report.groups[0].time.mean));
  CHECK(report.exit_code == ExitCode::not_measured);
}

TEST_CASE("no training is not a success") {
  const TrainingReport nothing = make_training_report({});
  CHECK(nothing.groups.empty());
  CHECK(nothing.exit_code == ExitCode::not_measured);
  TrainingFixture fixture;
  fixture.plan({}, TrainingFixture::params_of({}));
  const TrainingReport planned = training_report_of(fixture.records());
  CHECK(planned.groups[0].runs[0].state == TrainingState::not_run);
  CHECK(planned.groups[0].time.runs == 0);
  CHECK(planned.exit_code == ExitCode::not_measured);
}

TEST_CASE("steps without a target are timed, and have no time to train") {
  TrainingFixture fixture;
  Json params = TrainingFixture::params_of({});
  params["steps"] = 100;
  const std::string job = fixture.plan({}, params);
  fixture.run.add(job, Facts{"training", TrainingFixture::facts_of({.converged = false})});
  fixture.run.add(job, one_value("items_per_second", 250e3, Unit::count)).outcome(job);
  const TrainingReport report = training_report_of(fixture.records());
  CHECK(report.groups[0].runs[0].state == TrainingState::timed_steps);
  CHECK(report.groups[0].items_per_second == Approx(250e3));
  CHECK_THAT(report.groups[0].time.why, Contains("without a target"));
  CHECK(report.exit_code == ExitCode::ok);
}

TEST_CASE("records before a job's restart are ignored") {
  TrainingFixture fixture;
  fixture.add({.seed = 1, .seconds = 5.0});
  fixture.run.add("t1", Event{kRestartEvent, Json::object()});
  fixture.run.outcome("t1", Status::failed, "killed");
  const TrainingReport report = training_report_of(fixture.records());
  CHECK(report.groups[0].runs[0].state == TrainingState::failed);
  CHECK(report.groups[0].runs[0].curve.empty());
}

TEST_CASE("duplicate seeds and inconsistent setups give warnings") {
  TrainingFixture fixture;
  fixture.add({.seed = 3}).add({.seed = 3}).add({.seed = 4, .batch = 64});
  const TrainingReport report = training_report_of(fixture.records());
  REQUIRE(report.warnings.size() == 2);
  CHECK_THAT(report.warnings[0], Contains("seed 3"));
  CHECK_THAT(report.warnings[1], Contains("batch") && Contains("64"));
}

TEST_CASE("time that varies far more than samples is reported as host variation") {
  TrainingFixture fixture;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U})
    fixture.add({.seed = seed,
                 .seconds = 10.0 * static_cast<double>(seed),
                 .samples = 1e6 + 1e4 * static_cast<double>(seed)});
  const TrainingReport report = training_report_of(fixture.records());
  REQUIRE(report.warnings.size() == 1);
  CHECK_THAT(report.warnings[0], Contains("unstable") && Contains("3 runs"));
}

TEST_CASE("different presets are separate groups, in one run or several") {
  const RunRecords a = TrainingFixture("20261120T183005Z-a-0001").add({.seed = 1}).records();
  const RunRecords b = TrainingFixture("20261120T183005Z-b-0001")
                           .add({.seed = 2})
                           .add({.seed = 1, .preset = "small"})
                           .records();
  const TrainingReport report = make_training_report(std::vector<RunRecords>{a, b});
  REQUIRE(report.groups.size() == 2);
  CHECK(report.groups[0].runs.size() == 2);
  CHECK(report.groups[1].setup.preset == "small");
}

TEST_CASE("corrupt training records give missing values, never made-up ones") {
  TrainingFixture fixture;
  const std::string job = fixture.plan({}, "no object");
  fixture.run.add(job, Facts{"training", {{"quality", "good"}, {"checks", 7}, {"converged", 1}}});
  fixture.run.add(job, Chunk{"curve", {{"samples", {1, "x", nullptr}}, {"gap", {0.5, 0.4, 0.3}}}});
  fixture.run.add(job, Chunk{"breakdown", {{"phase", {1, {2}}}, {"seconds", "none"}}});
  fixture.run.outcome(job);
  const TrainingReport report = training_report_of(fixture.records());
  const TrainingRun& run = report.groups.at(0).runs.at(0);
  CHECK(run.state == TrainingState::failed);
  CHECK(std::isnan(run.quality));
  CHECK(run.curve.size() == 1);
}

TEST_CASE("the energy of a group comes from any run that has it") {
  TrainingGroup group;
  for (const double joules : {800.0, 824.0, kNoValue}) {
    TrainingRun& run = group.runs.emplace_back();
    run.state = TrainingState::converged;
    run.items_per_second = 300e3;
    run.energy_j = joules;
    run.energy_of = std::isfinite(joules) ? "CPU packages" : "the run had no telemetry";
  }
  TrainingGroup without = group;
  without.runs.erase(without.runs.begin(), without.runs.begin() + 2);
  merge_runs(group);
  CHECK(group.energy_j == Approx(812.0));
  CHECK(group.energy_of == "CPU packages");
  merge_runs(without);
  CHECK(std::isnan(without.energy_j));
  CHECK(without.energy_of == "the run had no telemetry");
}

TEST_CASE("phases are summed over runs, and overlapped time has no share") {
  const TrainingReport report = training_report_of(trainings_of({10.0, 11.0}));
  const auto& phases = report.groups[0].breakdown;
  REQUIRE(phases.size() == 5);
  CHECK(phases[2].phase == "backward");
  CHECK(phases[2].seconds == Approx(12.0));
  CHECK(phases[2].share == Approx(0.6));
  CHECK(phases[2].slowest_rank == "1");
  CHECK(phases[4].seconds == Approx(4.0));
  CHECK(std::isnan(phases[4].share));
  CHECK(report.groups[0].straggler_spread == Approx(0.1));
  CHECK(report.groups[0].memory[1].bytes == Approx(1 << 20));
}
