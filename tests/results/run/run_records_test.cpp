#include "results/run/run_records.h"

#include "core/error.h"
#include "results/run/job_results.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

RunFixture one_job() {
  RunFixture run;
  run.job("00.gemm.0", "gemm", "gemm").add("00.gemm.0", samples("throughput", 1e9));
  run.outcome("00.gemm.0");
  return run;
}

}  // namespace

TEST_CASE("a run directory gives its plan and all its records in order") {
  const TemporaryDirectory folder;
  const RunRecords run = read_run(one_job().end().write(folder.path()));
  CHECK(run.run == "20261120T183005Z-demo-0001");
  REQUIRE(run.jobs.size() == 1);
  CHECK(run.jobs[0].probe == "gemm");
  CHECK(run.jobs[0].hosts == std::vector<std::string>{"node1"});
  REQUIRE(run.records.size() == 3);
  CHECK(std::holds_alternative<Samples>(run.records[0].body));
  CHECK(run.warnings.empty());
}

TEST_CASE("a last line torn by kill -9 is skipped and reported, the others count") {
  RunFixture fixture = one_job();
  fixture.lines += R"({"schema_version":1,"kind":"out)";
  const RunRecords run = fixture.records();
  CHECK(run.records.size() == 2);
  REQUIRE(run.warnings.size() == 1);
  CHECK(run.warnings[0] == "records.jsonl: skipped truncated last line (31 bytes)");
}

TEST_CASE("a last record that lacks only its newline counts") {
  RunFixture fixture = one_job();
  fixture.lines.pop_back();
  const RunRecords run = fixture.records();
  CHECK(run.records.size() == 2);
  CHECK(run.warnings.empty());
}

TEST_CASE("an unreadable line in the middle is reported with its number, the rest counts") {
  RunFixture fixture;
  fixture.job("a", "a", "null").add("a", samples("time", 1.0));
  fixture.lines += "{\"schema_version\":99}\n";
  fixture.lines += std::string("\0\0\0\xff\xfe garbage\n", 14);
  fixture.outcome("a");
  const RunRecords run = fixture.records();
  CHECK(run.records.size() == 2);
  REQUIRE(run.warnings.size() == 2);
  CHECK(run.warnings[0].find("unreadable line 2") != std::string::npos);
  CHECK(run.warnings[1].find("unreadable line 3") != std::string::npos);
}

TEST_CASE("a thousand bad lines make a short list of warnings") {
  RunFixture fixture = one_job();
  for (int i = 0; i < 1000; ++i) fixture.lines += "nonsense\n";
  const RunRecords run = fixture.records();
  CHECK(run.records.size() == 2);
  CHECK(run.warnings.size() == 21);
  CHECK(run.warnings.back().find("980 more") != std::string::npos);
}

TEST_CASE("records without a plan are kept under their job's ID, with a warning") {
  const RunRecords run = run_of("r", "{torn", one_job().lines);
  REQUIRE(run.jobs.size() == 1);
  CHECK(run.jobs[0].case_name == "00.gemm.0");
  CHECK(run.warnings.size() == 2);
}

TEST_CASE("old metric names in records and gates are read as the current ones") {
  RunFixture fixture;
  fixture.job("a", "soak", "burn").add("a", samples("kept", 0.99, 1, {{"of", "gemm_rate"}}));
  fixture.job("b", "gemm", "gemm").add("b", samples("kept", 1.0, 1));
  fixture.plan["gates"] = {{"soak",
                            {{{"metric", "kept"}, {"min", 0.9}},
                             {{"metric", "burn.kept"}, {"min", 0.9}},
                             {{"metric", "gemm_rate"}, {"min", 1.0}}}}};
  const RunRecords run = fixture.outcome("a").outcome("b").records();
  std::vector<std::string> metrics;
  for (const Record& record : run.records)
    if (const auto* found = std::get_if<Samples>(&record.body)) metrics.push_back(found->metric);
  CHECK(metrics == std::vector<std::string>{"sustained_ratio", "kept"});
  const Json& gates = run.plan.at("gates").at("soak");
  CHECK(gates.at(0).at("metric") == "sustained_ratio");
  CHECK(gates.at(1).at("metric") == "burn.sustained_ratio");
  CHECK(gates.at(2).at("metric") == "gemm_rate");
}

TEST_CASE("a folder that is not a run is an error that names it") {
  const TemporaryDirectory folder;
  CHECK_THROWS_WITH(read_run(folder.path() / "none"), Contains("none") && Contains("not a run"));
}

TEST_CASE("a spool that cannot be read is an error, not a run without records") {
  const TemporaryDirectory folder;
  const auto run = one_job().end().write(folder.path());
  std::filesystem::remove(run / "records.jsonl");
  std::filesystem::create_directory(run / "records.jsonl");
  CHECK_THROWS_WITH(read_run(run), Contains("records.jsonl") && Contains("Is a directory"));
}

TEST_CASE("a plan with wrong types is read as far as possible") {
  const RunRecords run = run_of(
      "r",
      R"({"jobs": [17, {"id": "a", "ranks": "many", "params": []}, {"id": "a"}], "skipped": {}})",
      "");
  REQUIRE(run.jobs.size() == 1);
  CHECK(run.jobs[0].ranks == 1);
  CHECK(run.warnings.size() == 2);
}

TEST_CASE("a plan that is nested too deeply, or lists its jobs twice, is unreadable") {
  const std::string deep(100, '[');
  for (const std::string& plan :
       {"{\"jobs\": " + deep, std::string(R"({"jobs": [], "jobs": []})")}) {
    const RunRecords run = run_of("r", plan, "");
    REQUIRE(run.warnings.size() == 1);
    CHECK_THAT(run.warnings[0], Catch::Contains("unreadable"));
  }
}

TEST_CASE("records before a job's restart do not count, and other jobs are unaffected") {
  RunFixture fixture = one_job();
  fixture.job("01.other", "01.other", "null");
  Samples torn;
  torn.metric = "value";
  torn.params = {{"only", "in the torn half"}};
  torn.values = {1.0};
  torn.flags = {0};
  fixture.add("00.gemm.0", torn).add("01.other", torn);
  fixture.add("00.gemm.0", Event{kRestartEvent, Json::object()}, -1);
  const RunRecords run = fixture.records();
  std::vector<std::string> jobs;
  for (const Record& record : run.records)
    if (std::holds_alternative<Samples>(record.body)) jobs.push_back(record.job);
  CHECK(jobs == std::vector<std::string>{"01.other"});
  CHECK(missing_jobs(run) == std::vector<std::string>{"00.gemm.0", "01.other"});
}

TEST_CASE("the last outcome of a job counts, because the dispatcher may overrule a rank") {
  RunFixture fixture = one_job();
  fixture.outcome("00.gemm.0", Status::failed, "wrote after its outcome");
  const auto jobs = job_results(fixture.records());
  CHECK(jobs[0].outcome == Status::failed);
  CHECK(jobs[0].reason == "wrote after its outcome");
}

TEST_CASE("a job that began and has no outcome failed, one that never began was not run") {
  RunFixture fixture;
  fixture.job("a", "a", "null").job("b", "b", "null").add("a", Phase{"prepare", 0.1});
  fixture.plan["skipped"].push_back({{"job", "c"},
                                     {"case", "c"},
                                     {"probe", "x"},
                                     {"params", Json::object()},
                                     {"reason", "no device"}});
  const auto jobs = job_results(fixture.records());
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0].outcome == Status::failed);
  CHECK(jobs[0].reason == "no outcome: benchctl exited before this job finished");
  CHECK(jobs[1].outcome == Status::skipped);
  CHECK(jobs[1].reason == "not run");
  CHECK(jobs[1].not_run);
  CHECK(jobs[2].outcome == Status::skipped);
  CHECK(jobs[2].reason == "no device");
  CHECK_FALSE(jobs[2].not_run);
}

TEST_CASE("an update reads the plan and the new records only") {
  const TemporaryDirectory runs;
  RunFixture fixture = one_job();
  const auto folder = fixture.write(runs.path());
  RunRecords run;
  read_appended(folder, run);
  CHECK(run.records.size() == 2);
  const std::string read(fixture.lines.size() - 1, '#');
  fixture.job("b", "b", "null").lines = read + "\n";
  fixture.outcome("b").lines += "nonsense\n{\"schema_version\":1,";
  fixture.write(runs.path());
  read_appended(folder, run);
  CHECK(run.jobs.size() == 2);
  REQUIRE(run.records.size() == 3);
  CHECK(run.records[2].job == "b");
  REQUIRE(run.warnings.size() == 2);
  CHECK(run.warnings[0] == "records.jsonl: skipped truncated last line (20 bytes)");
  CHECK_THAT(run.warnings[1], Contains("unreadable line 4"));
}

TEST_CASE("a run updated after each piece of its spool is as if it were read once") {
  const TemporaryDirectory runs;
  RunFixture fixture = one_job();
  fixture.lines += "nonsense\n\n";
  fixture.add("00.gemm.0", Event{kRestartEvent, Json::object()}, -1);
  fixture.add("00.gemm.0", samples("throughput", 2e9)).outcome("00.gemm.0").end();
  const std::string lines = fixture.lines;
  RunRecords run;
  for (std::size_t end = 0; end <= lines.size(); ++end) {
    fixture.lines = lines.substr(0, end);
    read_appended(fixture.write(runs.path()), run);
  }
  const RunRecords whole = fixture.records();
  CHECK(run.warnings == whole.warnings);
  REQUIRE(run.records.size() == whole.records.size());
  for (std::size_t i = 0; i < run.records.size(); ++i)
    CHECK(to_json(run.records[i]) == to_json(whole.records[i]));
}
