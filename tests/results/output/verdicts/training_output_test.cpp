// The report of trainings as text, JSON and page.
#include "results/output/verdicts/training_output.h"

#include "core/schema.h"
#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/output/verdicts/curve_plot.h"
#include "results/output/verdicts/training_json.h"
#include "tests/results/training_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/rendered.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

constexpr TextStyle kPlainReport{false, false, 300};

TrainingReport mixed_trainings() {
  TrainingFixture fixture;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U})
    fixture.add({.seed = seed, .seconds = 10.0 + static_cast<double>(seed)});
  fixture.add({.seed = 5, .gap = 0.2, .converged = false});
  fixture.add({.seed = 1, .ranks = 2});
  return training_report_of(fixture.records());
}

int times_said(const std::string& text, const std::string& words) {
  int times = 0;
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++times;
  return times;
}

void keeps_to_schema(const Json& json) {
  CHECK_NOTHROW(Schema::load("schemas/report_training.json").check(json, "report"));
}

}  // namespace

TEST_CASE("training JSON conforms to its schema and keeps the documented keys") {
  const Json json = to_json(training_report_of(trainings_of({10.0, 50.0, 12.0, 11.0, 13.0})));
  keeps_to_schema(json);
  CHECK(json["workload"] == "llm");
  CHECK(json["preset"] == "tiny");
  CHECK(json["olympic_mean_s"] == Approx(12.0));
  CHECK(json["throughput"] == Approx(300e3));
  CHECK(json["mfu"] == Approx(0.18));
  CHECK(json["runs"][1]["seed"] == 2);
  CHECK(json["runs"][1]["converged"] == true);
  CHECK(json["runs"][1]["seconds_to_target"] == Approx(50.0));
  CHECK(json["exit_code"] == 0);
  CHECK_THAT(json["note"].get<std::string>(), Contains("not MLPerf results"));
}

TEST_CASE("a missed time is null in JSON, and several setups have no common mean") {
  const Json json = to_json(mixed_trainings());
  keeps_to_schema(json);
  CHECK(json["runs"].size() == 6);
  CHECK(json["runs"][4]["seconds_to_target"].is_null());
  CHECK(json["runs"][4]["converged"] == false);
  CHECK(json["olympic_mean_s"].is_null());
  CHECK(json["groups"][0]["olympic_mean_s"].is_number());
  CHECK(json["groups"][0]["energy_j"].is_null());
  CHECK(json["groups"][0]["energy_of"] == "the run had no telemetry");
  CHECK(json["series"][0]["points"][1]["n"] == 2);
}

TEST_CASE("offloaded optimizer state is named, with its rate and the wait that it should take") {
  TrainingFixture fixture;
  fixture.add({.seconds = 20.0,
               .ranks = 2,
               .offload = {{"file_system", "xfs"},
                           {"direct", true},
                           {"bytes", 8e9},
                           {"moved_bytes", 32e9},
                           {"windows", 16},
                           {"moving_seconds", 8.0},
                           {"wait_seconds", 4.0},
                           {"expected_wait_seconds", 3.0}}});
  const std::string text = to_text(training_report_of(fixture.records()), kPlainReport);
  CHECK_THAT(text, Contains("2 ranks (offload)"));
  CHECK_THAT(text, Contains("7.451 GiB of optimizer state in files (xfs), moved at 2.000 GB/s per "
                            "rank; 20 % of the time waits for it, 15 % expected at this rate"));
  TrainingFixture without;
  without.add({.seconds = 20.0});
  CHECK_THAT(to_text(training_report_of(without.records()), kPlainReport), !Contains("offload"));
}

TEST_CASE("a report without trainings says so in every form") {
  const TrainingReport none = make_training_report({});
  const Json json = to_json(none);
  keeps_to_schema(json);
  CHECK(json["runs"].empty());
  CHECK(json["workload"].is_null());
  CHECK(json["exit_code"] == 3);
  CHECK_THAT(to_text(none, kPlainReport), Contains("no training") && Contains("exit code 3"));
  CHECK_THAT(to_page(to_document(none)), Contains("These runs contain no training"));
}

TEST_CASE("the text has time, interval, spread, runs needed, peak and the disclaimer") {
  const std::string text =
      to_text(training_report_of(trainings_of({10.0, 14.0, 12.0, 11.0, 13.0})), kPlainReport);
  CHECK_THAT(text, Contains("12.00 s [") && Contains("olympic mean of 3 of 5 runs"));
  CHECK_THAT(text, Contains("Yuen") && Contains("samples to target 13.2 % ["));
  CHECK_THAT(text, Contains("runs needed    34"));
  CHECK_THAT(text, Contains("18.0 % of 1.000 TFLOP/s given: 2 cores x 3 GHz"));
  CHECK_THAT(text, Contains("300 k tokens/s"));
  CHECK_THAT(text, Contains("backward") && Contains("60.0 %"));
  CHECK_THAT(text, Contains("energy") && Contains("unknown: the run had no telemetry"));
  CHECK_THAT(text, Contains("not MLPerf results"));
  CHECK_THAT(text, Contains("exit code 0"));
}

TEST_CASE("a divided model is named with its schedule, its bubble and the ideal one") {
  const auto text_of = [](const Json& changes, const Json& division) {
    TrainingFixture fixture;
    const MadeTraining made{.ranks = 2};
    Json params = fixture.params_of(made);
    params.update(changes);
    const std::string job = fixture.plan(made, params);
    Json facts = fixture.facts_of(made);
    facts["division"] = division;
    facts["micro_batches"] = 8;
    fixture.run.add(job, Facts{"training", facts});
    fixture.run.add(job, one_value("items_per_second", made.rate, Unit::count));
    fixture.run.outcome(job);
    return to_text(training_report_of(fixture.records()), kPlainReport);
  };
  const std::string chunks =
      text_of({{"pp", 2}, {"vp", 4}, {"pipeline_schedule", "1f1b"}},
              {{"schedule", "1f1b"}, {"vp", 4}, {"bubble", 0.125}, {"ideal_bubble", 0.03}});
  CHECK_THAT(chunks, Contains("(pp 2, vp 4, dp 1)"));
  CHECK_THAT(chunks, Contains("12.5 % of the passes; 3 % if all stages took equally long (1f1b of "
                              "4 chunks, 8 micro-batches)"));
  const std::string delayed =
      text_of({{"pp", 2}, {"vp", 1}, {"pipeline_schedule", "zero_bubble"}},
              {{"schedule", "zero_bubble"}, {"vp", 1}, {"bubble", 0.125}, {"ideal_bubble", 0.04}});
  CHECK_THAT(delayed, Contains("(pp 2 zero_bubble, dp 1)"));
  CHECK_THAT(delayed, Contains("(zero_bubble, 8 micro-batches)"));
  CHECK_THAT(text_of({{"ep", 2}}, {{"ep", 2}}), Contains("(ep 2, dp 2)"));
}

TEST_CASE("the text lists the runs that did not converge, with reasons") {
  const std::string text = to_text(mixed_trainings(), kPlainReport);
  CHECK_THAT(text, Contains("not converged") && Contains("final gap 0.2, target 0.12"));
  CHECK_THAT(text, Contains("Strong scaling") && Contains("exit code 1"));
  CHECK_THAT(text, Contains("(not converged)"));
}

TEST_CASE("a resumed training is marked in text, Markdown and JSON") {
  TrainingFixture fixture;
  for (const std::uint64_t seed : {1U, 2U, 3U}) fixture.add({.seed = seed});
  fixture.add({.seed = 4, .resumed_from = 120});
  const TrainingReport report = training_report_of(fixture.records());
  for (const std::string& text : {to_text(report, kPlainReport), to_markdown(to_document(report))})
    CHECK_THAT(text, Contains("resumed from the checkpoint after step 120") &&
                         Contains("1 resumed run left out, --include-resumed counts"));
  const Json json = to_json(report);
  keeps_to_schema(json);
  CHECK(json["resumed"] == 1);
  CHECK(json["resumed_counted"] == false);
  CHECK(json["runs"][3]["resumed"] == true);
  CHECK(json["runs"][3]["resumed_from_step"] == 120);
  CHECK(json["runs"][0]["resumed"] == false);
  CHECK(json["runs"][0]["resumed_from_step"].is_null());
}

TEST_CASE("the Markdown report has runs, times and scaling") {
  const std::string text = to_markdown(to_document(mixed_trainings()));
  CHECK_THAT(text, Contains("# Time to train") && Contains("not MLPerf results"));
  CHECK_THAT(text, Contains("| seed | state | gap |") && Contains("**not converged**"));
  CHECK_THAT(text, Contains("olympic mean of 3 of 5 runs") && Contains("## Strong scaling"));
}

TEST_CASE("each failed check is listed once, in addition to the job's own reason") {
  const auto check = [](const char* name) {
    return Json{{"check", name}, {"held", false}, {"text", "looked at 9 steps"}};
  };
  TrainingFixture fixture;
  fixture.add({.seed = 1, .checks = {check("replicas agree"), check("loss is finite")}});
  fixture.add({.seed = 2, .checks = {check("weights moved")}});
  fixture.run.outcome("t2", Status::skipped, "host node1 is out");
  const TrainingReport report = training_report_of(fixture.records());
  REQUIRE(report.groups[0].runs[0].state == TrainingState::invalid);
  REQUIRE(report.groups[0].runs[1].state == TrainingState::not_run);
  for (const std::string& text : {to_text(report, kPlainReport), to_page(to_document(report))})
    for (const char* said : {"replicas agree: looked", "loss is finite: looked",
                             "weights moved: looked", "host node1 is out"}) {
      INFO(said);
      CHECK(times_said(text, said) == 1);
    }
}

TEST_CASE("the curve falls from left to right across the target line") {
  const TrainingReport report = training_report_of(trainings_of({10.0}));
  const CurvePlot plot = curve_plot(report.groups[0]);
  CHECK(plot.lines.size() == 2);
  CHECK(plot.samples == Approx(1e6));
  CHECK(plot.height(1.5) > plot.height(0.4));
  CHECK(plot.height(plot.low) == 0.0);
  CHECK(plot.height(-1.0) == 0.0);
  CHECK(plot.height(1e9) == 1.0);
  const std::string text = to_text(plot, kPlainReport);
  CHECK_THAT(text, Contains("target 0.12") && Contains("bigram 0.7") && Contains("1 M samples"));
  const auto first = text.substr(text.find('\n') + 1);
  CHECK(first.substr(0, first.find('\n')).find('*') < 40);
  const std::string svg = to_svg(plot);
  CHECK_THAT(svg, Contains("<polyline points=\"") && Contains("floor: gap 0"));
}

TEST_CASE("gaps at or below the floor are drawn at the edge, single points not at all") {
  TrainingFixture fixture;
  fixture.add({.gap = -0.001});
  const CurvePlot plot = curve_plot(training_report_of(fixture.records()).groups[0]);
  CHECK_FALSE(to_text(plot, kPlainReport).empty());
  CHECK_FALSE(to_svg(plot).find("nan") != std::string::npos);
  CurvePlot none;
  CHECK(to_text(none, kPlainReport).empty());
  CHECK(to_svg(none).empty());
}

TEST_CASE("the training page escapes names and is self-contained") {
  const std::string bad = "<script>alert(\"x\")</script>";
  TrainingFixture fixture("20261120T183005Z-<b>-0001");
  MadeTraining made{.checks = {{{"check", bad}, {"held", false}, {"text", bad}}}};
  made.preset = bad;
  made.workload = bad;
  fixture.add(made);
  Json facts = {{"item", bad},
                {"baselines", {{bad, 0.5}}},
                {"peak_flops", {{"value", 1e12}, {"kind", bad}, {"source", bad}}}};
  fixture.run.add("t1", Facts{"training", facts});
  fixture.run.add(
      "t1",
      Chunk{"breakdown",
            {{"phase", {bad}}, {"seconds", {1.0}}, {"share", {1.0}}, {"slowest_rank", {bad}}}});
  fixture.run.add("t1", Chunk{"memory", {{"label", {bad}}, {"bytes", {1.0}}}});
  fixture.run.outcome("t1");
  std::string page = to_page(to_document(training_report_of(fixture.records())));
  CHECK_THAT(page, Contains("&lt;script&gt;"));
  const std::string drawing = "xmlns=\"http://www.w3.org/2000/svg\"";  // a name, not a place
  REQUIRE_THAT(page, Contains(drawing));
  page.erase(page.find(drawing), drawing.size());
  CHECK(times_said(page, "<script") == 1);  // the page's own
  for (const char* foreign : {"src=", "http://", "https://", "@import", "url(", "<b>"})
    CHECK(page.find(foreign) == std::string::npos);
}

TEST_CASE("an external training is labelled, and its gap 0 is the target") {
  TrainingFixture fixture;
  fixture.add({.gap = -0.01, .target = 0.0});
  fixture.run.add("t1", Facts{"training", {{"external", true}}}).outcome("t1");
  const std::string text = to_text(training_report_of(fixture.records()), kPlainReport);
  CHECK_THAT(text, Contains("reported from their own logs") && Contains("target: gap 0"));
  CHECK(text.find("twins") == std::string::npos);
}

TEST_CASE("a training on files has no known best quality, unless the files say it") {
  for (const char* kind : {"bound", "attainable"}) {
    TrainingFixture fixture;
    fixture.add({});
    fixture.run
        .add("t1", Facts{"training",
                         {{"floor_kind", kind},
                          {"data",
                           {{"kind", "files"},
                            {"files", {"train.tar"}},
                            {"evaluation_files", {"val.tar"}},
                            {"samples", 100},
                            {"evaluation_samples", 10}}}}})
        .outcome("t1");
    const std::string text = to_text(training_report_of(fixture.records()), kPlainReport);
    INFO(kind);
    CHECK_THAT(text, Contains("not MLPerf results either"));
    const bool unknown = text.find("no known best quality") != std::string::npos;
    CHECK(unknown == (std::string(kind) == "bound"));
  }
}

TEST_CASE("control bytes in names are escaped") {
  TrainingFixture fixture;
  MadeTraining made;
  made.preset = "\033[2Jtiny";
  fixture.add(made);
  fixture.run.add("t1", Facts{"training", {{"item", "\033]0;x\a"}}}).outcome("t1");
  const std::string text = to_text(training_report_of(fixture.records()), kPlainReport);
  CHECK(text.find('\033') == std::string::npos);
  CHECK(text.find('\a') == std::string::npos);
}
