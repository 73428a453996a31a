#include "mlperf/score/entry_score.h"

#include <cmath>

#include "core/error.h"
#include "core/whole_file.h"
#include "tests/mlperf/scored_entry.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

EntryScore scored_entry(EntryScore entry, const ScoreSettings& settings = {}) {
  const RcpSet set = small_set();
  score_entry(entry, &set, settings);
  return entry;
}

EntryScore three_runs(double samples = 100) {
  return entry_of({run_of(0, 10, samples), run_of(1, 14, samples), run_of(2, 11, samples)});
}

void break_run(ScoredRun& run) {
  run.read.compliant = false;
  run.read.failed = "run_stop is missing";
  run.read.facts.status = "";
}

}  // namespace

TEST_CASE("the score is the mean without the fastest and the slowest run") {
  const EntryScore entry = scored_entry(three_runs());
  CHECK(entry.valid());
  CHECK(entry.olympic_mean_minutes == 11);
  CHECK(entry.scaling_factor == 1);
  CHECK(entry.score_minutes == 11);
  CHECK(entry.runs[0].use == RunUse::fastest);
  CHECK(entry.runs[1].use == RunUse::slowest);
  CHECK(entry.runs[2].use == RunUse::counted);
}

TEST_CASE("without scaling.json the computed factor is used") {
  const EntryScore entry = scored_entry(three_runs(99));
  CHECK(entry.valid());
  CHECK(entry.score_minutes == Approx(11 * 100.0 / 99));
}

TEST_CASE("the factor of scaling.json is used, and a mismatch is reported") {
  EntryScore entry = three_runs(100);
  entry.file_factor = 1.00383;
  const EntryScore stale = scored_entry(entry);
  CHECK(stale.score_minutes == Approx(11 * 1.00383));
  REQUIRE(stale.warnings.size() == 1);
  CHECK(stale.warnings[0].find("stale") != std::string::npos);
  entry = three_runs(99);
  entry.file_factor = 100.0 / 99;
  CHECK(scored_entry(entry).warnings.empty());
}

TEST_CASE("one failed run is dropped as the slowest, two invalidate the entry") {
  EntryScore entry = three_runs();
  break_run(entry.runs[0]);
  EntryScore one = scored_entry(entry);
  CHECK(one.valid());
  CHECK(one.score_minutes == 14);
  CHECK(one.runs[0].use == RunUse::failed);
  CHECK(one.runs[0].why == "run_stop is missing");
  CHECK(one.runs[2].use == RunUse::fastest);
  break_run(entry.runs[1]);
  const EntryScore two = scored_entry(entry);
  CHECK_FALSE(two.valid());
  CHECK(std::isnan(two.score_minutes));
  CHECK(two.problems[0] == "2 of 3 runs failed, at most one is allowed");
}

TEST_CASE("too few runs have a provisional score only") {
  EntryScore entry = three_runs();
  entry.runs.pop_back();
  const EntryScore score = scored_entry(entry);
  CHECK(std::isnan(score.score_minutes));
  CHECK(score.provisional_minutes == 12);
  CHECK(std::isnan(score.olympic_mean_minutes));
  CHECK(score.problems[0] == "2 of 3 required runs");
}

TEST_CASE("with more runs than required, the window with the median score is scored") {
  EntryScore entry = three_runs();
  entry.runs.push_back(run_of(3, 20, 100));
  entry.runs.push_back(run_of(4, 21, 100));
  const EntryScore score = scored_entry(entry);
  REQUIRE(score.window);
  CHECK(score.window->means == std::vector<double>{11, 14, 20});
  CHECK(score.score_minutes == 14);
  CHECK(score.runs[0].use == RunUse::outside);
  CHECK(score.runs[4].use == RunUse::outside);
}

TEST_CASE("an entry that converges far faster than the reference has no score") {
  const EntryScore score = scored_entry(three_runs(60));
  CHECK_FALSE(score.valid());
  CHECK(std::isnan(score.score_minutes));
  CHECK(score.problems[0].rfind("convergence: ", 0) == 0);
  const EntryScore bypassed = scored_entry(three_runs(60), {.rcp_bypass = true});
  CHECK(bypassed.score_minutes == 11);
  CHECK(bypassed.warnings.size() == 1);
}

TEST_CASE("the open division is not compared with reference points") {
  EntryScore entry = three_runs(60);
  entry.division = "open";
  const EntryScore score = scored_entry(entry);
  CHECK(score.valid());
  CHECK_FALSE(score.rcp);
  CHECK(score.rcp_why == "the test applies to the closed division only");
}

TEST_CASE("a closed entry without reference points has a score and a warning") {
  EntryScore entry = three_runs();
  entry.required_runs = 3;
  score_entry(entry, nullptr, {});
  CHECK(entry.score_minutes == 11);
  REQUIRE(entry.warnings.size() == 1);
  CHECK(entry.warnings[0].find("not tested") != std::string::npos);
}

TEST_CASE("a benchmark with an unknown number of required runs has no score") {
  EntryScore entry = three_runs();
  score_entry(entry, nullptr, {});
  CHECK_FALSE(entry.valid());
  CHECK(entry.provisional_minutes == 11);
}

TEST_CASE("runs with different batches cannot be compared with the reference") {
  EntryScore entry = three_runs();
  entry.runs[1].read.facts.global_batch_size = 576;
  CHECK_FALSE(scored_entry(entry).valid());
  entry = three_runs();
  entry.runs[1].read.facts.global_batch_size.reset();
  CHECK_FALSE(scored_entry(entry).valid());
  break_run(entry.runs[1]);
  CHECK(scored_entry(entry).valid());
}

TEST_CASE("an evaluation without a sample count fails the test, with its file") {
  EntryScore entry = three_runs();
  entry.runs[2].read.facts.last_before_stop->samples_count.reset();
  const EntryScore score = scored_entry(entry);
  CHECK_FALSE(score.valid());
  CHECK(score.rcp->why.find("result_2.txt") != std::string::npos);
}

TEST_CASE("an aborted run that passes the official check gets a warning") {
  EntryScore entry = three_runs();
  entry.runs[1].read.facts.status = "aborted";
  const EntryScore score = scored_entry(entry);
  CHECK(score.score_minutes == 11);
  REQUIRE(score.warnings.size() == 1);
  CHECK(score.warnings[0].find("'aborted'") != std::string::npos);
}

TEST_CASE("a run that stops before it starts does not count") {
  EntryScore entry = three_runs();
  entry.runs[0].read.facts.minutes = -3;
  const EntryScore score = scored_entry(entry);
  CHECK(score.runs[0].use == RunUse::failed);
  CHECK(score.score_minutes == 14);
}

TEST_CASE("epochs are rounded to three places like in the official checker") {
  RunFacts facts;
  facts.status = "success";
  CHECK(std::isnan(convergence_point(facts, "epochs")));
  facts.last_before_stop = Evaluation{.samples_count = 7.0, .epoch_num = 0.85049};
  CHECK(convergence_point(facts, "epochs") == 0.85);
  CHECK(convergence_point(facts, "samples") == 7);
  facts.status = "aborted";
  CHECK(std::isinf(convergence_point(facts, "samples")));
}

TEST_CASE("--batch compares with the reference at another batch") {
  RcpSet set = small_set();
  RcpPoint larger = set.points[0];
  larger.batch = 2304, larger.mean = 150;
  set_minimum(larger, set.runs, 4);
  set.points.push_back(larger);
  EntryScore entry = three_runs(100);
  score_entry(entry, &set, {.batches = {2304, 9999}});
  REQUIRE(entry.what_if.size() == 2);
  CHECK_FALSE(entry.what_if[0].test.pass);
  CHECK(entry.what_if[0].minutes_at_reference == Approx(16.5));
  CHECK(entry.what_if[1].test.reference.match == RcpMatch::missing);
  CHECK(entry.valid());
}

TEST_CASE("an entry that passes only because of the allowance gets a warning") {
  RcpSet set = small_set();
  set.allowance = 30;
  EntryScore entry = three_runs(80);
  score_entry(entry, &set, {});
  CHECK(entry.valid());
  CHECK(entry.scaling_factor == 1.25);
  REQUIRE(entry.warnings.size() == 1);
  CHECK(entry.warnings[0].find("only because of the allowance of 30 samples") != std::string::npos);
  EntryScore slower = three_runs(99);
  score_entry(slower, &set, {});
  CHECK(slower.warnings.empty());
}

TEST_CASE("a log that names a different benchmark gets a warning") {
  EntryScore entry = three_runs();
  entry.runs[1].read.facts.benchmark = "flux1";
  const EntryScore score = scored_entry(entry);
  REQUIRE(score.warnings.size() == 1);
  CHECK(score.warnings[0].find("'flux1'") != std::string::npos);
}

TEST_CASE("a scaling.json without a positive factor is rejected") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "scaling.json";
  write_file(file, R"({"scaling_factor": 1.25})");
  CHECK(read_scaling_factor(file) == 1.25);
  for (const char* text : {"{}", R"({"scaling_factor": "1.2"})", R"({"scaling_factor": 0})", "["}) {
    write_file(file, text);
    CHECK_THROWS_AS(read_scaling_factor(file), Error);
  }
}

}  // namespace bench::mlperf
