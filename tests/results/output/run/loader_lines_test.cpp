// Data loader lines of the run report.
#include "results/output/run/loader_lines.h"

#include "core/schema.h"
#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/rendered.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

constexpr TextStyle kWide{false, false, 300};

Json limit_of(const char* name, double rate, const char* remedy) {
  return {{"limit", name}, {"samples_per_second", rate}, {"source", "x"}, {"remedy", remedy}};
}

Json told_by_loader() {
  return {
      {"item", "image"},
      {"limits",
       {limit_of("storage", 400.0, "a faster disk"), limit_of("workers", 812.0, "more num_workers"),
        limit_of("cpu", 1624.0, "more cores")}},
      {"binding", "workers"},
      {"runner_up", "cpu"},
      {"gain_until_runner_up", 2.0},
      {"binding_from_disk", "storage"},
      {"recommended_workers", 2},
      {"sweep",
       {{{"num_workers", 1}, {"samples_per_second", 410.0}},
        {{"num_workers", 2}, {"samples_per_second", 805.0}}}},
      {"samples_per_cpu_second", 1140.0},
      {"pytorch_samples_per_cpu_second", 367.0},
      {"pytorch_factor", 1140.0 / 367.0},
      {"steps",
       {{{"step_s", 0.05}, {"predicted_stall", 0.32}, {"stall", 0.31}, {"verdict", "comparable"}}}},
      {"presets",
       {{{"preset", "resnet50_h100"},
         {"use", 0.45},
         {"least_use", 0.9},
         {"passes", false},
         {"workers_needed", 7}}}}};
}

RunFixture loader_run(const Json& facts) {
  RunFixture run;
  run.job("01.images", "images", "data_loader").add("01.images", Facts{"data_loader", facts});
  run.add("01.images", samples("samples_per_second", 800.0)).outcome("01.images").end();
  return run;
}

Samples on_nodes(const char* metric, double value, int cpu, int memory) {
  return samples(metric, value, 20,
                 {{"num_workers", 2}, {"cpu_node", cpu}, {"memory_node", memory}});
}

}  // namespace

TEST_CASE("a loader case shows limits, bottleneck, workers and the factor to PyTorch") {
  const RunReport report = make_run_report(loader_run(told_by_loader()).records());
  const std::string text = to_text(report, kWide);
  CHECK_THAT(text, Contains("storage 400 images/s, workers 812 images/s, cpu 1624 images/s"));
  CHECK_THAT(text, Contains("bottleneck  workers; 2x without this limit, then limited by cpu; "
                            "remedy: more num_workers; storage if the data do not fit"));
  CHECK_THAT(
      text,
      Contains("2 recommended (fewest that reach 95 % of the peak); 1: 410, 2: 805 images/s"));
  CHECK_THAT(text, Contains("PyTorch     3.11x its images per CPU-second (1140 vs. 367"));
  CHECK_THAT(text, Contains("50.00 ms: predicted data wait 32.0 %, measured 31.0 %"));
  CHECK_THAT(
      text, Contains("resnet50_h100: accelerator busy 45.0 % of the time (target 90.0 %: missed)"));
  const Json json = to_json(report);
  CHECK_NOTHROW(Schema::load("schemas/report.json").check(json, "report"));
  CHECK(json["jobs"][0]["loader"]["recommended_workers"] == 2);
}

TEST_CASE("an unmeasured factor to PyTorch is omitted") {
  Json facts = told_by_loader();
  facts.erase("pytorch_factor");
  const std::string text = to_text(make_run_report(loader_run(facts).records()), kWide);
  CHECK(text.find("PyTorch") == std::string::npos);
}

TEST_CASE("remote workers are shown with both rates per NUMA node") {
  RunFixture run = loader_run(told_by_loader());
  run.add("01.images", on_nodes("samples_per_second", 1000.0, 0, 0));
  run.add("01.images", on_nodes("numa_ratio", 0.82, 0, 1)).outcome("01.images");
  CHECK_THAT(to_text(make_run_report(run.records()), kWide),
             Contains("workers on node 0, batches on node 1: 82.0 % of the local rate (820 of 1000 "
                      "samples/s)"));
}

TEST_CASE("corrupt loader facts are omitted, and control bytes are escaped") {
  Json facts = told_by_loader();
  facts["binding"] = "\033[2Jworkers";
  facts["limits"] = {1, "x", {{"limit", 7}, {"samples_per_second", "many"}}};
  facts["sweep"] = 5;
  facts["steps"] = {nullptr, {{"step_s", "x"}}};
  facts["presets"] = {{{"passes", "yes"}}};
  const std::string text = to_text(make_run_report(loader_run(facts).records()), kWide);
  CHECK(text.find('\033') == std::string::npos);
  CHECK_THAT(text, Contains("\\x1b[2Jworkers") && Contains("not evaluated") && !Contains("limits"));
  CHECK(loader_lines(Json::object()).rows.empty());
  CHECK(loader_lines(Json(3)).rows.empty());
}

TEST_CASE("several loaders of a case are listed by job") {
  RunFixture run = loader_run(told_by_loader());
  run.job("01.images.1", "images", "data_loader")
      .add("01.images.1", Facts{"data_loader", told_by_loader()})
      .outcome("01.images.1");
  CHECK_THAT(
      to_text(make_run_report(run.records()), kWide),
      Contains("job         01.images\n  limits") && Contains("job         01.images.1\n  limits"));
}
