// Batch sizes next to each other, from made-up trainings.
#include "results/verdicts/training/batch_ladder.h"

#include <cmath>

#include "core/locations.h"
#include "core/schema.h"
#include "results/output/document/terminal.h"
#include "results/output/verdicts/training_json.h"
#include "results/output/verdicts/training_output.h"
#include "tests/results/training_fixture.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

Json ladder_params(const MadeTraining& made) {
  Json params = TrainingFixture::params_of(made);
  params["batch"] = made.batch;
  params["sample_budget"] = 3200;
  return params;
}

/// A training on 3,200 samples, without a target.
void add_batch(TrainingFixture& fixture, std::int64_t batch, double rate, double gap,
               std::uint64_t seed = 1) {
  const MadeTraining made{.seed = seed, .gap = gap, .converged = false, .batch = batch};
  const std::string job = fixture.plan(made, ladder_params(made));
  Json facts = TrainingFixture::facts_of(made);
  facts["target"] = nullptr;
  facts["micro_batch"] = 4;
  fixture.run.add(job, Facts{"training", facts});
  fixture.run.add(job, one_value("items_per_second", rate, Unit::count));
  fixture.run.add(job, one_value("quality", gap, Unit::count));
  fixture.run.add(
      job,
      Chunk{"memory", {{"label", {"parameters", "activations"}}, {"bytes", {1000, 500 * batch}}}});
  fixture.run.outcome(job);
}

/// One that did not fit.
void add_too_large(TrainingFixture& fixture, std::int64_t batch) {
  const MadeTraining made{.batch = batch};
  const std::string job = fixture.plan(made, ladder_params(made));
  fixture.run.add(job, Event{kOutOfMemoryEvent, {{"bytes", 2e9}, {"available", 1e9}}});
  fixture.run.outcome(job, Status::skipped, "out of memory: 64 samples need 2 GB");
}

}  // namespace

TEST_CASE("batches of equal trainings make a ladder, and one that does not fit is an answer") {
  TrainingFixture fixture;
  add_batch(fixture, 64, 120e3, 0.9);
  add_batch(fixture, 16, 80e3, 0.5);
  add_batch(fixture, 32, 116e3, 0.7);
  add_batch(fixture, 32, 116e3, 0.8, 2);
  add_too_large(fixture, 128);
  const TrainingReport report = training_report_of(fixture.records());
  REQUIRE(report.batch_ladders.size() == 1);
  const BatchLadder& ladder = report.batch_ladders[0];
  CHECK(ladder.samples == 3200);
  REQUIRE(ladder.points.size() == 4);
  CHECK(ladder.points[0].batch == 16);
  CHECK(ladder.points[0].micro_batch == 4);
  CHECK(ladder.points[0].memory == 9000.0);
  CHECK(ladder.points[1].gap == Approx(0.75));
  CHECK(ladder.points[3].batch == 128);
  CHECK(std::isnan(ladder.points[3].items_per_second));
  CHECK_THAT(ladder.points[3].reason, Contains("out of memory"));
  CHECK(ladder_words(ladder) == "batch 64 is the fastest of 4; batch 32 comes within 5 % of it");
  CHECK(report.exit_code == ExitCode::ok);

  const std::string text = to_terminal(to_document(report), {});
  CHECK_THAT(text, Contains("COMPLETE: all requested runs that fit into memory completed"));
  CHECK_THAT(text, Contains("Batch sizes") && Contains("120 k") && Contains("fastest") &&
                       Contains("out of memory: 64 samples need 2 GB") &&
                       !Contains("Time breakdown"));
  const Json json = to_json(report);
  CHECK_NOTHROW(Schema::load(schema_path("report_training")).check(json, "report"));
  CHECK(json["batch_ladders"][0]["fastest"] == 64);
  CHECK(json["batch_ladders"][0]["enough"] == 32);
  CHECK(json["batch_ladders"][0]["points"][3]["throughput"].is_null());
}

TEST_CASE("a ladder of which no batch fits could not be measured") {
  TrainingFixture fixture;
  add_too_large(fixture, 64);
  add_too_large(fixture, 128);
  const TrainingReport report = training_report_of(fixture.records());
  REQUIRE(report.batch_ladders.size() == 1);
  CHECK_FALSE(report.batch_ladders[0].fastest);
  CHECK(ladder_words(report.batch_ladders[0]) == "no batch could be timed");
  CHECK(report.exit_code == ExitCode::not_measured);
}

TEST_CASE("only a training that was not started for want of memory is excused") {
  TrainingFixture fixture;
  add_batch(fixture, 16, 80e3, 0.5);
  add_batch(fixture, 32, -1.0, 0.5);  // damaged
  const MadeTraining made{.batch = 64};
  const std::string job = fixture.plan(made, ladder_params(made));
  fixture.run.add(job, Event{kOutOfMemoryEvent, {{"bytes", 2e9}, {"available", 1e9}}});
  fixture.run.outcome(job, Status::failed, "rank exited: signal 9");
  const TrainingReport crashed = training_report_of(fixture.records());
  CHECK(crashed.exit_code == ExitCode::not_measured);
  CHECK(crashed.batch_ladders.at(0).enough == 0u);

  TrainingFixture other;
  add_batch(other, 16, 80e3, 0.5);
  add_batch(other, 32, 90e3, 0.5);
  const MadeTraining alone{.batch = 64};
  const std::string single = other.plan(alone, TrainingFixture::params_of(alone));
  other.run.add(single, Event{kOutOfMemoryEvent, {{"bytes", 2e9}, {"available", 1e9}}});
  other.run.outcome(single, Status::skipped, "out of memory");
  CHECK(training_report_of(other.records()).exit_code == ExitCode::not_measured);
}

TEST_CASE("trainings to a target, or on other numbers of samples, are no ladder") {
  TrainingFixture fixture;
  fixture.add({.seed = 1, .batch = 16});
  fixture.add({.seed = 1, .batch = 32});
  add_batch(fixture, 64, 120e3, 0.9);
  CHECK(training_report_of(fixture.records()).batch_ladders.empty());
}

}  // namespace bench
