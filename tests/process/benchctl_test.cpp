// The commands as a user or a script sees them: stdout, stderr, exit code.
#include <algorithm>
#include <fstream>

#include "core/schema.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE("a run is reported, stored, listed, shown and exported") {
  const BenchctlFolder bench;
  const Answer run = bench.start_suite({"", ""}).wait();
  INFO(run.err);
  CHECK(run.exit.clean());
  CHECK_THAT(run.out, Contains("case1") && Contains("case2"));
  CHECK_THAT(run.err, Contains("[2/2] case2 ok"));

  const Json runs = parse_json(bench.run({"runs", "--json"}).out, "runs");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0]["suite"] == "faults");
  CHECK(bench.run({"show", runs[0]["run"].get<std::string>()}).exit.clean());
  CHECK_THAT(bench.run({"export", "csv", "latest"}).out, Contains("null.value"));
  CHECK(bench.run({"export", "jsonl"}).exit.clean());
  Schema::load(schema_path("report"))
      .check(parse_json(bench.run({"show", "--json"}).out, "show"), "show --json");
}

TEST_CASE("the report of show is the report of run, byte for byte") {
  const BenchctlFolder bench;
  const Answer run = bench.start_suite({"", "crash"}).wait();
  CHECK(run.exit.text() == "exit code 3");
  const Answer show = bench.run({"show", "latest"});
  CHECK(show.out == run.out);
  CHECK(show.exit.code == run.exit.code);
}

TEST_CASE("a run stores its digest, versions, labels, allowed environment and plan") {
  const BenchctlFolder bench;
  const std::string suite = bench.suite({""});
  CHECK(bench
            .run({"run", suite, "--rank-program", (program_folder() / "faulty_rank").string(),
                  "--label", "driver=550", "--label", "x=a=b"})
            .exit.clean());
  const Json plan = read_json(bench.records().parent_path() / "plan.json");
  CHECK(plan["digest"].get<std::string>().size() == 64);
  CHECK(plan["labels"] == Json{{"driver", "550"}, {"x", "a=b"}});
  CHECK(plan["benchctl_version"].is_string());
  CHECK(plan["jobs"].size() == 1);
  CHECK_FALSE(plan["environment"].contains("PATH"));
}

TEST_CASE("a database that cannot be written leaves the run and the report, and exit code 4") {
  const BenchctlFolder bench;
  Program started = bench.start_suite({"slow"});
  REQUIRE(wait_until([&] { return std::filesystem::exists(bench.records()); }));
  std::filesystem::create_directories(bench.database / "in-the-way");
  const Answer run = started.wait();
  CHECK(run.exit.text() == "exit code 4");
  CHECK_THAT(run.out,
             Contains("case1") &&
                 Contains("exit code 4: all measured, no gates, but the run could not be added"));
  CHECK_THAT(run.err, Contains("warning: the run is kept in") && Contains("benchctl rebuild"));
  std::filesystem::remove_all(bench.database);
  CHECK_THAT(bench.run({"rebuild"}).out, Contains("1 runs"));
}

TEST_CASE("a database folder that cannot be written is reported before anything is measured") {
  const BenchctlFolder bench;
  const Answer run = bench.run({"run", bench.suite({""}), "--db", "/proc/nowhere/results.sqlite"});
  CHECK(run.exit.text() == "exit code 4");
  CHECK_THAT(run.err, Contains("/proc/nowhere/runs") && Contains("--db"));
}

TEST_CASE("a note goes to the journal, and a discarded run is listed as such") {
  const BenchctlFolder bench;
  CHECK(bench.start_suite({""}).wait().exit.clean());
  CHECK(bench.run({"note", "latest", "the fans were off", "--discard"}).exit.clean());
  CHECK_THAT(bench.run({"runs"}).out, Contains("discarded: the fans were off"));
  CHECK(bench.run({"note", "latest", "they were on", "--restore"}).exit.clean());
  CHECK_THAT(bench.run({"runs"}).out, !Contains("discarded"));
  CHECK_THAT(read_file(bench.folder.path() / "journal.jsonl"), Contains("the fans were off"));
}

TEST_CASE("misspelt words are refused with exit code 2 and a suggestion") {
  const BenchctlFolder bench;
  const std::string suite = bench.suite({""});
  const std::vector<std::pair<std::vector<std::string>, std::string>> slips = {
      {{"rnu", suite}, "Did you mean 'run'?"},
      {{"runs", "--jsn"}, "Did you mean '--json'?"},
      {{"list", "probs"}, "Did you mean 'probes'?"},
      {{"list", "hardware", "h20-sxm-141gb"}, "Did you mean 'h200-sxm-141gb'?"},
      {{"list", "probes", "gemm"}, "'list probes' takes no name"},
      {{"export", "cvs"}, "Did you mean 'csv'?"},
      {{"plan", suite, "--only", "caes1"}, "Did you mean 'case1'?"},
      {{"plan", suite, "--set", "case1.vlaue=2"}, "Did you mean 'value'?"},
      {{"plan", suite, "--launcher", "slrum"}, "auto, local, mpirun, slurm"},
      {{"run", suite, "--label", "x"}, "expected KEY=VALUE"},
      {{"plan"}, "suite is required"},
      {{"mlperf", "chek", "--help"}, "Did you mean 'check'?"}};
  for (const auto& [arguments, expected] : slips) {
    const Answer answer = bench.run(arguments);
    INFO(expected);
    CHECK(answer.exit.text() == "exit code 2");
    CHECK_THAT(answer.err, Contains(expected));
    CHECK(answer.out.empty());
  }
}

TEST_CASE("benchctl alone shows where to begin and every command, and help the whole command") {
  const BenchctlFolder bench;
  const Answer first = bench.run({});
  CHECK(first.exit.clean());
  const std::string help = bench.run({"--help"}).out;
  for (const char* command : {"run", "accept", "nightly", "compare", "mlperf", "resume", "train",
                              "topology", "golden", "export", "import", "unstage"}) {
    INFO(command);
    CHECK_THAT(first.out, Contains(command));
    CHECK_THAT(help, Contains(std::string("\n  ") + command + ' '));
  }
  CHECK_THAT(first.out, Contains("benchctl run smoke") && Contains("MLPerf:"));
  CHECK(bench.run({"help"}).out == first.out);
  CHECK(bench.run({"help", "mlperf", "check"}).out == bench.run({"mlperf", "check", "--help"}).out);
  CHECK_THAT(bench.run({"help", "mlprf"}).err, Contains("mlperf"));
  CHECK_THAT(bench.run({"import", "csv", "--help"}).out,
             Contains("Usage: benchctl import csv [OPTIONS] file"));
}

TEST_CASE("repeated --set and --only options reach the jobs") {
  const BenchctlFolder bench;
  const Answer answer =
      bench.run({"plan", bench.suite({"", "", ""}), "--json", "--only", "case1", "--only", "case3",
                 "--set", "case1.value=5", "--set", "case1.samples=7"});
  const Json plan = parse_json(answer.out, "plan");
  REQUIRE(plan["jobs"].size() == 2);
  CHECK(plan["jobs"][0]["params"]["value"] == 5);
  CHECK(plan["jobs"][0]["params"]["samples"] == 7);
  CHECK(plan["jobs"][1]["case_name"] == "case3");
}

TEST_CASE("probes, suites, hosts, metrics and hardware can be listed") {
  const BenchctlFolder bench;
  const Json all = parse_json(bench.run({"list", "--json"}).out, "list");
  for (const char* topic : {"probes", "suites", "hosts", "metrics", "hardware"})
    CHECK(all.contains(topic));
  CHECK_THAT(bench.run({"list", "metrics"}).out, Contains("null.value"));
}

TEST_CASE("telemetry of a run is reported with its results, in text, JSON and CSV") {
  const BenchctlFolder bench;
  const std::string suite = (bench.folder.path() / "watched.json").string();
  const Json busy = {{"probe", "memory_latency"},
                     {"params", {{"sizes", {65536}}, {"pages", {"small"}}}},
                     {"measure", {{"min_time_s", 0.2}}}};
  Json watched_case = busy, unwatched_case = busy;
  watched_case["name"] = "watched";
  unwatched_case["name"] = "unwatched";
  unwatched_case["telemetry"] = {{"enabled", false}};
  std::ofstream(suite) << dump({{"suite", "watched"},
                                {"telemetry", {{"enabled", true}, {"period_s", 0.02}}},
                                {"cases", {watched_case, unwatched_case}}});
  const Answer run = bench.run({"run", suite});
  INFO(run.out + run.err);
  CHECK(bench.measured(run));
  CHECK_THAT(run.out, Contains("  telemetry") && Contains(": CPU ") && Contains(" busy"));
  const Json shown = parse_json(bench.run({"show", "--json"}).out, "show");
  Schema::load(schema_path("report")).check(shown, "show --json");
  const Json& watched = shown["results"][0]["telemetry"];
  CHECK(watched["phase"] == "measure");
  CHECK(watched["seconds"] >= 0.2);
  CHECK(watched["cpu"]["busy_share"] > 0.0);
  CHECK(watched["cpu"]["busy_share"] <= 1.01);
  CHECK(watched["gpus"] == Json::array());
  CHECK(shown["results"].back()["telemetry"].is_null());
  CHECK_THAT(bench.run({"export", "csv"}).out, Contains("gpu_power_capped_share\r\n"));
}

TEST_CASE("hardware is listed with its limits, their derivation and reported values") {
  const BenchctlFolder bench;
  CHECK_THAT(bench.run({"list", "hardware"}).out, Contains("h200-sxm-141gb"));
  const std::string text = bench.run({"list", "hardware", "h200-sxm-141gb"}).out;
  CHECK_THAT(text, Contains("each device sends its S bytes once"));
  CHECK_THAT(text, Contains("doubtful: 2333 in a field of MB/s"));
  const Json all = parse_json(bench.run({"list", "hardware", "--json"}).out, "list");
  CHECK(all.size() >= 20);
  const Json one =
      parse_json(bench.run({"list", "hardware", "h200-sxm-141gb", "--json"}).out, "list");
  CHECK(one["memory"]["bandwidth_bytes_per_second"] == 4.8e12);
  CHECK(one["limits"].size() > 10);
  CHECK(one["findings"].empty());
}

TEST_CASE("an implausible threshold is a warning, and the suite is still planned") {
  const BenchctlFolder bench;
  const auto path = bench.folder.path() / "gated.json";
  const Json gate = {{"metric", "value"}, {"min_of_limit", 95}};
  std::ofstream(path) << Json{{"suite", "gated"},
                              {"cases", {{{"name", "a"}, {"probe", "null"}, {"gates", {gate}}}}}};
  const Answer answer = bench.run({"plan", path.string()});
  CHECK(answer.exit.clean());
  CHECK_THAT(answer.err, Contains("warning: implausible threshold (unit)"));
  CHECK_THAT(answer.err, Contains("/cases/0/gates/0: 95 of the limit"));
  CHECK_THAT(answer.out, Contains("1 jobs"));
}

TEST_CASE("the help of every command has an example") {
  const BenchctlFolder bench;
  for (const char* command : {"list", "plan", "run", "show", "runs", "export", "rebuild", "note"}) {
    const Answer help = bench.run({command, "--help"});
    CHECK(help.exit.clean());
    CHECK_THAT(help.out, Contains(std::string("Example: benchctl ") + command));
  }
}

#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("help answers within 20 ms") {
  const BenchctlFolder bench;
  double best = 1.0;
  for (int i = 0; i < 10; ++i) best = std::min(best, bench.run({"--help"}).seconds);
  CHECK(best < 0.020);
}
#endif
