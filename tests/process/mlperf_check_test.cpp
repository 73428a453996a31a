// benchctl mlperf check on the command line: exit codes and output formats.
#include <filesystem>
#include <fstream>
#include <string>

#include "core/locations.h"
#include "core/schema.h"
#include "tests/mlperf/right_log.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

/// A folder with one log of an incomplete run.
std::string torn_submission(const BenchctlFolder& bench) {
  const auto folder = bench.folder.path() / "acme" / "results" / "sys\x1b" / "llama31_8b";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "result_0.txt")
      << "noise\n0: :::MLLOG {\"namespace\": \"\", \"time_ms\": 1760000000000, \"event_type\": "
         "\"POINT_IN_TIME\", \"key\": \"submission_org\", \"value\": "
         "\"SUBMISSION_ORG_PLACEHOLDER\", "
         "\"metadata\": {\"file\": \"train.py\", \"lineno\": 1}}\n";
  return (bench.folder.path() / "acme").string();
}

}  // namespace

TEST_CASE("mlperf check reports the verdict, positions and an exit code") {
  const BenchctlFolder bench;
  const std::string path = torn_submission(bench);
  const Answer text = bench.run({"mlperf", "check", path, "--ruleset", "5.1.0"});
  CHECK(text.exit.text() == "exit code 1");
  CHECK_THAT(text.out, Contains("0 of 1 logs pass (5.1.0)"));
  CHECK_THAT(text.out,
             Contains("result_0.txt:2:4: warning: submission_org still has a placeholder value"));
  CHECK_THAT(text.out, Contains("[official "));
  CHECK(text.out.find('\x1b') == std::string::npos);
  const Answer compat = bench.run({"mlperf", "check", path, "--compat"});
  CHECK(compat.exit.text() == "exit code 1");
  CHECK(compat.out.find("[strict ") == std::string::npos);
}

TEST_CASE("mlperf rules lists the rounds with the checker that each follows") {
  const BenchctlFolder bench;
  const Answer json = bench.run({"mlperf", "rules", "--json"});
  const Json report = parse_json(json.out, "stdout");
  CHECK_NOTHROW(Schema::load(schema_path("report_mlperf_rules")).check(report, "stdout"));
  const Json& newest = report["rule_sets"].back();
  CHECK(newest["rule_set"] == "6.1.0");
  CHECK(newest["checker"]["version"] == "4.1.68");
  CHECK(newest["benchmarks"]["dlrmv4"]["target"] == 0.75);
  CHECK_THAT(bench.run({"mlperf", "rules"}).out, Contains("up to 0.75, 10 runs"));
  const Answer none = bench.run({"mlperf", "rules", "--ruleset-dir", bench.folder.path()});
  CHECK(none.exit.text() == "exit code 4");
  CHECK_THAT(none.err, Contains("no rule sets in"));
}

TEST_CASE("mlperf storage checks, scores and explains") {
  const BenchctlFolder bench;
  const auto root = bench.folder.path() / "closed" / "acme";
  const auto leaf =
      root / "results" / "sys\x1b" / "training" / "retinanet" / "run" / "20260701_000000";
  std::filesystem::create_directories(leaf);
  std::ofstream(leaf / "summary.json") << R"({"metric": {"train_au_mean_percentage": 84.0}})";
  const Answer text = bench.run({"mlperf", "storage", "check", root});
  CHECK(text.exit.text() == "exit code 1");
  CHECK_THAT(text.out, Contains("0 of 1 workloads without an error"));
  CHECK_THAT(text.out, Contains("2.1.17: there must be a run to warm up and five that count"));
  CHECK(text.out.find('\x1b') == std::string::npos);
  const Answer json = bench.run({"mlperf", "storage", "check", root, "--json"});
  const Json report = parse_json(json.out, "stdout");
  CHECK_NOTHROW(Schema::load(schema_path("report_mlperf_storage")).check(report, "stdout"));
  CHECK(report["round"] == "3.0");
  const Answer score = bench.run({"mlperf", "storage", "score", root});
  CHECK(score.exit.text() == "exit code 1");
  CHECK_THAT(score.out, Contains("no score: there is no run after the one that warms up"));
  CHECK_THAT(bench.run({"mlperf", "storage", "explain", "3.3.2"}).out, Contains("retinanet 85"));
  const Answer wrong = bench.run({"mlperf", "storage", "explain", "3.3.22"});
  CHECK(wrong.exit.text() == "exit code 2");
  CHECK_THAT(wrong.err, Contains("3.3.2"));
  CHECK(bench.run({"mlperf", "storage", "check", bench.folder.path() / "none"}).exit.text() ==
        "exit code 2");
}

TEST_CASE("import mlperf-storage takes a tree, and compare and show take its runs") {
  const BenchctlFolder bench;
  const auto root = bench.folder.path() / "round";
  for (const auto& [system, rate] : {std::pair{"slow", 1000.0}, std::pair{"fast", 1500.0}})
    for (int run = 1; run <= 5; ++run) {
      const auto leaf = root / "closed/acme/results" / system / "vector_database/milvus/HNSW/run" /
                        ("20260701_00000" + std::to_string(run));
      std::filesystem::create_directories(leaf);
      std::ofstream(leaf / "summary.json")
          << Json{{"throughput_qps", rate + run}, {"recall", 0.9}, {"num_vectors", 1000}};
    }
  const Answer answer =
      bench.run({"import", "mlperf-storage", root, "--label", "why=test", "--json"});
  INFO(answer.err);
  CHECK(answer.exit.clean());
  const Json imported = parse_json(answer.out, "stdout");
  REQUIRE(imported["imported"].size() == 10);
  CHECK_THAT(answer.err, Contains("not verified by MLCommons"));
  const Answer compared =
      bench.run({"compare", "label:system=slow", "label:system=fast+label:why=test"});
  CHECK(compared.exit.clean());
  CHECK_THAT(compared.out, Contains("mlperf_storage.query_throughput") && Contains("improved") &&
                               Contains("not verified by MLCommons"));
  CHECK_THAT(bench.run({"show", imported["imported"][0]["run"]}).out,
             Contains("milvus/HNSW") && Contains("query_throughput"));
  CHECK_THAT(bench.run({"import", "mlperf-storage", root, "--label", "why=test"}).err,
             Contains("already imported as"));
  CHECK_THAT(bench.run({"import", "mlperf-storage", bench.folder.path() / "none"}).err,
             Contains("is no folder"));
}

TEST_CASE("mlperf check writes JSON, JUnit and SARIF to stdout and to a file") {
  const BenchctlFolder bench;
  const std::string path = torn_submission(bench);
  const Answer json = bench.run({"mlperf", "check", path, "--json"});
  const Json report = parse_json(json.out, "stdout");
  CHECK_NOTHROW(Schema::load(schema_path("report_mlperf_check")).check(report, "stdout"));
  CHECK(report["files"][0]["official"] == "fail");
  CHECK(report["verdict"] == "fail");
  const std::string file = (bench.folder.path() / "out.sarif").string();
  const Answer sarif = bench.run({"mlperf", "check", path, "--format", "sarif", "-o", file});
  CHECK(sarif.exit.text() == "exit code 1");
  CHECK(sarif.out.empty());
  CHECK(parse_json(read_file(file), file)["version"] == "2.1.0");
  const Answer junit = bench.run({"mlperf", "check", path, "--format", "junit"});
  CHECK_THAT(junit.out, Contains("<testsuites tests=\"2\""));
}

TEST_CASE("mlperf check --score adds the scores") {
  const BenchctlFolder bench;
  const std::string path = torn_submission(bench);
  const Answer text = bench.run({"mlperf", "check", path, "--score"});
  CHECK(text.exit.text() == "exit code 1");
  CHECK_THAT(text.out, Contains("0 of 1 logs pass") && Contains("0 of 1 entries have a score"));
  const Json both = parse_json(bench.run({"mlperf", "check", path, "--score", "--json"}).out, "");
  const Json score = parse_json(bench.run({"mlperf", "score", path, "--json"}).out, "");
  CHECK(both["score"] == score);
  CHECK_THAT(bench.run({"mlperf", "check", path, "--score", "--format", "junit"}).err,
             Contains("--score does not support the format 'junit'"));
}

TEST_CASE("mlperf check --score fails if valid logs have no score") {
  const BenchctlFolder bench;
  const auto folder = bench.folder.path() / "acme" / "results" / "sys" / "llama31_8b";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "result_0.txt") << mlperf::RightLog().text();
  const std::string path = folder.string(), page = (bench.folder.path() / "out.md").string();
  CHECK(bench.run({"mlperf", "check", path}).exit.clean());
  const Answer answer = bench.run({"mlperf", "check", path, "--score", "--markdown", page});
  CHECK(answer.exit.text() == "exit code 1");
  CHECK_THAT(answer.out, Contains("1 of 10 required runs"));
  const std::string text = read_file(page);
  CHECK(text.find("**INCOMPLETE**") < text.find("**PASS**"));
  const Answer json = bench.run({"mlperf", "check", path, "--score", "--json"});
  CHECK(parse_json(json.out, "stdout")["verdict"] == "fail");
}

TEST_CASE("mlperf check writes its report as a page and as Markdown, next to any format") {
  const BenchctlFolder bench;
  const std::string page = (bench.folder.path() / "check.html").string(),
                    text = (bench.folder.path() / "check.md").string();
  bench.run(
      {"mlperf", "check", torn_submission(bench), "--json", "--html", page, "--markdown", text});
  CHECK_THAT(read_file(page), Contains("result_0.txt:2:4: ") && Contains("FAIL"));
  CHECK_THAT(read_file(text), Contains("official verdict: 0 of 1 logs pass, 1 fail"));
  const Answer follow = bench.run({"mlperf", "check", "log.txt", "--follow", "--html", page});
  CHECK(follow.exit.text() == "exit code 2");
  CHECK_THAT(follow.err, Contains("--follow writes no pages"));
}

TEST_CASE("mlperf check rejects unreadable paths by name") {
  const BenchctlFolder bench;
  const std::string path = torn_submission(bench);
  const Answer none = bench.run({"mlperf", "check", path + "x"});
  CHECK(none.exit.text() == "exit code 2");
  CHECK_THAT(none.err, Contains("Did you mean 'acme'?"));
  const Answer format = bench.run({"mlperf", "check", path, "--format", "serif"});
  CHECK(format.exit.text() == "exit code 2");
  CHECK_THAT(format.err, Contains("Did you mean 'sarif'?"));
  const Answer rules = bench.run({"mlperf", "check", path, "--ruleset", "5.1"});
  CHECK(rules.exit.text() == "exit code 2");
  CHECK_THAT(rules.err, Contains("5.1.0"));
  const Answer both = bench.run({"mlperf", "check", path, "--strict", "--compat"});
  CHECK(both.exit.text() == "exit code 2");
}
