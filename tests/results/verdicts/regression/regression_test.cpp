#include "core/error.h"
#include "core/schema.h"
#include "core/time.h"
#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/output/verdicts/regression_output.h"
#include "results/store/journal.h"
#include "results/verdicts/regression/decisions.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/rendered.h"
#include "tests/support/temporary_directory.h"

using namespace bench;

namespace {

namespace fs = std::filesystem;

/// Twenty nights of a product that slows by eight percent at the twelfth, with a kernel that
/// changed then and a host name that would like to be markup.
struct SlowedRuns {
  TemporaryDirectory folder;
  Store store = Store::open(folder.path() / "results.sqlite", Access::write);

  explicit SlowedRuns(int nights = 20) {
    for (int night = 0; night < nights; ++night) {
      RunFixture run("run-" + std::to_string(100 + night));
      run.plan["time_ns"] = start_ns() + night * std::int64_t{86'400'000'000'000};
      run.job("a", "gemm", "gemm");
      run.add("a", Facts{"host", {{"kernel", night < 12 ? "6.1" : "6.8<b>\x1b[31m"}}});
      run.add("a", samples("throughput",
                           (night < 12 ? 1e12 : 0.92e12) * (1.0 + 0.002 * ((night * 7) % 5 - 2)),
                           20, {{"m", 512}}));
      store.import_run(run.outcome("a").end().write(folder.path() / "runs"));
    }
  }
  RegressionReport report(const RegressionOptions& options = {}) const {
    return regression_report(Histories(store), options);
  }
};

}  // namespace

TEST_CASE("the report finds what slowed, since which run, and the facts that changed") {
  const SlowedRuns runs;
  const RegressionReport report = runs.report();
  CHECK(report.exit_code == ExitCode::failed);
  CHECK(report.tested == 1);
  CHECK(report.newest.id == "run-119");
  REQUIRE(report.findings.size() == 1);
  const ChangeFinding& finding = report.findings[0];
  CHECK(finding.key.metric == "gemm.throughput");
  CHECK(finding.since.id == "run-112");
  CHECK(finding.verdict == HistoryVerdict::regressed);
  CHECK(finding.effect == Approx(-0.08).margin(0.005));
  REQUIRE(finding.facts.size() == 1);
  CHECK(finding.facts[0].fact.find("kernel") != std::string::npos);
  CHECK(finding.facts[0].before == "6.1");
}

TEST_CASE("the JSON report conforms to its schema and keeps the keys that scripts use") {
  const SlowedRuns runs;
  const Json json = to_json(runs.report());
  CHECK_NOTHROW(Schema::load("schemas/report_regression.json").check(json, "report"));
  for (const char* key : {"scope", "host", "device", "metric", "params", "verdict", "effect", "low",
                          "high", "q", "since_run", "since_low", "since_high"})
    CHECK(json["findings"][0].contains(key));
  CHECK(json["findings"][0]["since_run"] == "run-112");
  CHECK(json["tested"] == 1);
  CHECK(json["missing"] == 0);
}

TEST_CASE("the text report has what, when and confidence, and escapes control bytes") {
  const SlowedRuns runs;
  const std::string text = to_text(runs.report(), {});
  CHECK(text.find("REGRESSED  gemm.throughput m=512  node1  -8") != std::string::npos);
  CHECK(text.find("since run-112") != std::string::npos);
  CHECK(text.find("kernel: 6.1 -> 6.8") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("exit code 1: regression found") != std::string::npos);
  const std::string markdown = to_markdown(to_document(runs.report()));
  for (const char* fact : {"**REGRESSED** | gemm.throughput m=512 | node1", "since run-112",
                           "**REGRESSED**: 1 open finding, "})
    CHECK(markdown.find(fact) != std::string::npos);
}

TEST_CASE("an acked finding is hidden, counted and does not fail, also after a rebuild") {
  const SlowedRuns runs;
  const ChangeFinding finding = runs.report().findings.at(0);
  RegressionOptions options;
  options.decisions = {{finding.id, "run-113", 0, FindingState::acked, now_ns(), "ann", "known"}};
  const RegressionReport report = runs.report(options);
  CHECK(report.exit_code == ExitCode::ok);
  CHECK(report.findings.at(0).state == FindingState::acked);
  CHECK(to_text(report, {}).find("1 acked, noise or improved; show them with --all") !=
        std::string::npos);
  CHECK(to_text(report, {}, true).find("acked by ann") != std::string::npos);
  CHECK(to_json(report)["findings"][0]["decision"]["text"] == "known");
}

TEST_CASE("too few runs are not judged, with a message") {
  const SlowedRuns runs(6);
  const RegressionReport report = runs.report();
  CHECK(report.exit_code == ExitCode::not_measured);
  CHECK(report.tested == 0);
  CHECK(report.too_short == 1);
  CHECK(to_text(report, {}).find("at least nine runs") != std::string::npos);
}

TEST_CASE("only what is selected is judged") {
  const SlowedRuns runs;
  RegressionOptions options;
  options.selection.metrics = {"memory"};
  CHECK(runs.report(options).exit_code == ExitCode::not_measured);
  options.selection.metrics = {};
  options.selection.hosts = {"node2"};
  CHECK(runs.report(options).findings.empty());
  CHECK(runs.report(options).tested == 1);
  options.selection.hosts = {"node1"};
  CHECK(runs.report(options).findings.size() == 1);
  options.selection.to_ns = start_ns() + 11 * std::int64_t{86'400'000'000'000};
  CHECK(runs.report(options).findings.empty());
}

TEST_CASE("the report page has the finding with its plotted history, and escapes names") {
  const SlowedRuns runs;
  const std::string html = to_page(to_document(runs.report()));
  CHECK(html.find("gemm.throughput") != std::string::npos);
  CHECK(html.find("run-112") != std::string::npos);
  CHECK(html.find("<svg") != std::string::npos);
  CHECK(html.find("6.8<b>") == std::string::npos);
  CHECK(html.find("6.8&lt;b&gt;") != std::string::npos);
  CHECK(to_page(to_document(RegressionReport{})).find("No changes found.") != std::string::npos);
}

TEST_CASE("findings of one host since one run are summarised in one line") {
  const SlowedRuns runs;
  RegressionReport report = runs.report();
  CHECK(host_summary_lines(report).empty());
  report.findings.push_back(report.findings[0]);
  CHECK(host_summary_lines(report) == std::vector<std::string>{"node1: 2 findings since run-112"});
}
