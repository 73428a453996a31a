// Diagnoses as text, JSON and page, and the table of rules in the docs.
#include "results/output/verdicts/diagnosis_output.h"

#include <cstdlib>
#include <filesystem>

#include "core/schema.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "results/output/verdicts/diagnosis_json.h"
#include "results/output/verdicts/training_json.h"
#include "results/output/verdicts/training_output.h"
#include "tests/results/training_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/rendered.h"

namespace bench::diagnosis {
namespace {

using Catch::Matchers::Contains;

constexpr TextStyle kUnwrapped{false, false, 400};

Finding finding_of(Cause cause, const char* rule, double share, double gain) {
  Finding finding;
  finding.cause = cause;
  finding.rule = rule;
  finding.share = share;
  finding.evidence = {"data wait 42.1 % (> 5 %)", "readiness 12.0 % (< 95 %)"};
  finding.gain = gain;
  finding.gain_text = "1 / (1 - data wait)";
  finding.experiment = "one worker more";
  finding.fix = "more workers";
  return finding;
}

Diagnosed slow_loader() {
  Diagnosed one;
  one.observation.subject = Subject::loader;
  one.observation.case_name = "images";
  one.observation.what = "step 50 ms";
  one.observation.jobs = {"01.images.0", "01.images.1"};
  one.observation.set(Measure::data_share, 0.421, "01.images.0 stall");
  one.observation.set(Measure::passes_share, 0.579, "01.images.0 accelerator_use");
  Diagnosis& diagnosis = one.diagnosis;
  diagnosis.all = {finding_of(Cause::data_preparation, "data_preparation", 0.421, 1.727),
                   finding_of(Cause::transfer, "transfer", 0.05, kNoValue),
                   finding_of(Cause::checkpoint, "checkpoint", 0.02, 1.02)};
  diagnosis.bottleneck = diagnosis.all[0];
  diagnosis.next = diagnosis.all[1];
  diagnosis.not_judged = {{"launch_bound", Cause::launch_bound, "no counters", "a GPU with DCGM"},
                          {"memory_bound", Cause::memory_bound, "no counters", "a GPU with DCGM"},
                          {"network_bound", Cause::network_bound, "no peak", ""}};
  return one;
}

/// What add_diagnoses() adds.
Document document_of(const std::vector<Diagnosed>& list) {
  Document document{.title = "x"};
  add_diagnoses(document, list);
  return document;
}

std::string text_of(const std::vector<Diagnosed>& list) {
  return to_terminal(document_of(list), kUnwrapped);
}

void keeps_to(const char* schema, const Json& json) {
  CHECK_NOTHROW(Schema::load(schema).check(json, "report"));
}

TEST_CASE(
    "the diagnosis text has bottleneck, evidence, gain, fix, experiment and next bottleneck") {
  const std::string text = text_of({slow_loader()});
  const std::string cause(words_of(Cause::data_preparation));
  CHECK_THAT(text, Contains("Bottleneck analysis\n  case             images, data loader with "
                            "steps, step 50 ms, 2 jobs"));
  CHECK_THAT(text, Contains("bottleneck       " + cause + ", 42.1 % of the step time\n"));
  CHECK_THAT(text,
             Contains("evidence         data wait 42.1 % (> 5 %); readiness 12.0 % (< 95 %)\n"));
  CHECK_THAT(text, Contains("potential gain   up to 1.73x: 1 / (1 - data wait)\n"));
  CHECK_THAT(text, Contains("fix              more workers\n"));
  CHECK_THAT(text, Contains("confirm by       one worker more\n"));
  CHECK_THAT(text, Contains("next bottleneck  " + std::string(words_of(Cause::transfer)) +
                            ", 5.0 % of the step time; 1 / (1 - data wait)\n"));
  CHECK_THAT(text, Contains("other causes     " + std::string(words_of(Cause::checkpoint)) +
                            ", 2.0 % of the step time\n"));
  CHECK_THAT(text, Contains("42.1 %") && Contains("57.9 %"));
}

TEST_CASE("rules that lack the same measurement are grouped, with how to measure it") {
  const std::string text = text_of({slow_loader()});
  CHECK_THAT(text,
             Contains("not evaluated    launch_bound, memory_bound: no counters; to evaluate: a "
                      "GPU with DCGM\n"));
  CHECK_THAT(text, Contains("                   network_bound: no peak\n"));
}

TEST_CASE("without a bottleneck the text says whether all rules were evaluated") {
  Diagnosed one = slow_loader();
  one.diagnosis = {};
  CHECK_THAT(text_of({one}), Contains("none: no rule matched"));
  one.diagnosis.not_judged = slow_loader().diagnosis.not_judged;
  CHECK_THAT(text_of({one}), Contains("none found; 3 rules could not be evaluated"));
  CHECK(text_of({}).empty());
}

TEST_CASE("diagnosis JSON has null for unknown values and conforms to both schemas") {
  Diagnosed nothing = slow_loader();
  nothing.diagnosis = {};
  const Json json = to_json({slow_loader(), nothing});
  CHECK(json[0]["bottleneck"]["cause"] == "data_preparation");
  CHECK(json[0]["bottleneck"]["ceiling"] == Approx(1.727));
  CHECK(json[0]["next"]["ceiling"].is_null());
  CHECK(json[0]["causes"].size() == 3);
  CHECK(json[0]["not_judged"][2]["settle"].is_null());
  CHECK(json[0]["step"].size() == step_parts().size());
  CHECK(json[1]["bottleneck"].is_null());
  CHECK(json[1]["causes"] == Json::array());
  RunFixture run;
  RunReport report = make_run_report(run.end().records());
  report.diagnoses = {slow_loader(), nothing};
  keeps_to("schemas/report.json", to_json(report));
  TrainingReport trainings;
  trainings.diagnosed = {{"r1", report.diagnoses}};
  keeps_to("schemas/report_training.json", to_json(trainings));
  CHECK(to_json(trainings)["diagnosis"][1]["run"] == "r1");
}

TEST_CASE("both report schemas define a diagnosis identically") {
  const Json run = parse_json(read_file("schemas/report.json"), "report.json");
  const Json training =
      parse_json(read_file("schemas/report_training.json"), "report_training.json");
  for (const char* name : {"diagnosis", "cause"})
    CHECK(run["$defs"][name] == training["$defs"][name]);
}

TEST_CASE("names in a diagnosis are sanitised for terminal and page") {
  const std::string bad = "\033[2J<img src=x onerror=\"a\">";
  Diagnosed one = slow_loader();
  one.observation.case_name = one.observation.what = bad;
  one.diagnosis.bottleneck->evidence = {bad};
  one.diagnosis.all[0].evidence = {bad};
  one.diagnosis.not_judged[0].why = bad;
  CHECK(text_of({one}).find('\033') == std::string::npos);
  const std::string html = to_page(document_of({one}));
  CHECK(html.find("<img") == std::string::npos);
  CHECK(html.find('\033') == std::string::npos);
  CHECK_THAT(html, Contains("&lt;img") && Contains("<svg"));
}

TEST_CASE("the diagnosis in Markdown has the facts and a table of all causes") {
  const std::string text = to_markdown(document_of({slow_loader()}));
  CHECK_THAT(text, Contains("## Bottleneck analysis") && Contains("step 50 ms, 2 jobs"));
  CHECK_THAT(text, Contains("- potential gain: up to 1.73x") && Contains("- fix: more workers"));
  CHECK_THAT(text, Contains("| cause | share of step |"));
}

TEST_CASE("the step bar has a piece per known part, as wide as its share") {
  const std::string html = to_page(document_of({slow_loader()}));
  CHECK_THAT(html, Contains("width=\"261.0\"") && Contains("width=\"359.0\""));  // of 620
  CHECK_THAT(html, Contains(std::string(words_of(Measure::data_share).words) + " 42.1 %</title>"));
  CHECK(to_page(document_of({})).find("Bottleneck analysis") == std::string::npos);
}

TEST_CASE("a training report without trainings shows loader bottlenecks") {
  TrainingReport report;
  report.runs = {"r1"};
  report.diagnosed = {{"r1", {slow_loader()}}};
  const std::string text = to_text(report, kUnwrapped);
  CHECK_THAT(text, Contains("Bottleneck analysis") && !Contains("no training") &&
                       Contains("this is not an MLPerf result"));
  CHECK_THAT(to_page(to_document(report)), Contains("Data loader and checkpoint bottlenecks"));
}

TEST_CASE("a run without training, loader or checkpoint has no diagnosis in any form") {
  RunFixture run;
  run.job("01.gemm", "gemm", "gemm").add("01.gemm", samples("throughput", 1e9));
  const RunReport report = make_run_report(run.outcome("01.gemm").end().records());
  CHECK(report.diagnoses.empty());
  CHECK(to_text(report, kUnwrapped).find("Bottleneck analysis") == std::string::npos);
  CHECK(to_json(report)["diagnosis"] == Json::array());
}

TEST_CASE("docs/diagnosis.md has the current rule table") {
  // BENCH_WRITE_GOLDEN=1 is for tables that change: what stands in the docs is what decides.
  const std::filesystem::path path = "docs/diagnosis.md";
  const std::string begin = "<!-- rules: made of src/results/verdicts/diagnosis/rules.cpp -->\n";
  const std::string end = "<!-- end of rules -->";
  std::string text = read_file(path);
  REQUIRE_THAT(text, Contains(begin) && Contains(end));
  const std::size_t from = text.find(begin) + begin.size(), to = text.find(end);
  if (std::getenv("BENCH_WRITE_GOLDEN") != nullptr) {
    text.replace(from, to - from, rules_table());
    write_file(path, text);
    return;
  }
  CHECK(text.substr(from, to - from) == rules_table());
  for (const Rule& rule : rules()) CHECK_THAT(rules_table(), Contains(condition_text(rule)));
}

}  // namespace
}  // namespace bench::diagnosis
