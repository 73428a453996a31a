// Verdicts of nights on a healthy, slow or crashing host.
#include "core/schema.h"
#include "tests/process/nightly_bench.h"
#include "tests/results/database.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("a healthy night chooses, runs, compares with history, and passes") {
  const NightAfterNine bench;
  bench.tell("100");
  const Answer answer = bench.night();
  INFO(answer.err);
  CHECK(answer.exit.text() == "exit code 0");
  CHECK_THAT(answer.out, Contains("PASS: no confirmed finding on 1 host;") &&
                             Contains("2 of 2 jobs ok on 1 hosts"));
  bench.tell("100");
  const Json night = bench.night_json();
  Schema::load(schema_path("nightly")).check(night, "nightly --json");
  CHECK(night["tested"] == 2);
  CHECK(night["findings"].empty());
  CHECK(night["reruns"].empty());
  CHECK(night["exact"] == true);
}

TEST_CASE("a host that turned slow is rerun three times, confirmed and stored") {
  const NightAfterNine bench;
  bench.tell("80\n80.4\n79.8\n80.1\n");
  const auto junit = bench.folder.path() / "night.xml", gauges = bench.folder.path() / "night.prom";
  const Json night = bench.night_json({"--junit", junit, "--prometheus", gauges});
  CHECK_THAT(read_file(junit), Contains("failures=\"1\"") && Contains("confirmed: "));
  CHECK_THAT(read_file(gauges), Contains("benchctl_night_exit_code{suite=\"night\"} 1"));
  CHECK(night["verdict"] == "fail");
  CHECK(night["exit_code"] == 1);
  REQUIRE(night["findings"].size() == 1);
  const Json* slower = finding_of(night, "slower");
  REQUIRE(slower != nullptr);
  CHECK((*slower)["state"] == "confirmed");
  CHECK((*slower)["again"] == Json{80.4, 79.8, 80.1});
  CHECK((*slower)["effect"].get<double>() == Approx(-0.2).epsilon(0.02));
  CHECK(night["reruns"].size() == 1);
  const char* kKept = "SELECT COUNT(*) FROM event WHERE key = 'nightly_finding'";
  CHECK(ask(bench.database, kKept) == 1);
  fs::remove(bench.database);
  CHECK(bench.run({"rebuild"}).exit.clean());
  CHECK(ask(bench.database, kKept) == 1);
}

TEST_CASE("one slow value that is not reproduced is dropped, and the night passes") {
  const NightAfterNine bench;
  bench.tell("80\n100.2\n99.8\n100.1\n");
  const Json night = bench.night_json();
  CHECK(night["verdict"] == "pass");
  REQUIRE(finding_of(night, "slower") != nullptr);
  CHECK((*finding_of(night, "slower"))["state"] == "dropped");
}

TEST_CASE("a rank that crashes each time is confirmed, with its reason") {
  const NightBench bench;
  bench.tell("100");
  const std::vector<std::string> words = {
      "nightly", "--suite",        bench.night_suite({{"FAULTY_RANK", "crash"}}),
      "--json",  "--rank-program", (program_folder() / "faulty_rank").string()};
  const Answer answer = bench.run(words);
  CHECK(answer.exit.text() == "exit code 1");
  const Json night = parse_json(answer.out, "nightly");
  REQUIRE(finding_of(night, "failed") != nullptr);
  CHECK_THAT((*finding_of(night, "failed"))["text"].get<std::string>(),
             Contains("SIGSEGV") && Contains("3 of 3 reruns also failed"));
}

TEST_CASE("checks beyond the budget are skipped and come first next night") {
  const NightAfterNine bench;
  bench.tell("100");
  // Each needs 20 s with its overhead: there is time for one of the two.
  const std::vector<std::string> words = {
      "nightly", "--suite",        bench.night_suite(Json::object(), 20),      "--budget", "40s",
      "--json",  "--rank-program", (program_folder() / "faulty_rank").string()};
  const Json night = parse_json(bench.run(words).out, "nightly");
  REQUIRE(night["left_out"].size() == 1);
  CHECK(night["hosts"][0]["planned"] == 1);
  CHECK(night["hosts"][0]["ok"] == 1);
  const std::string left = night["left_out"][0]["case"];
  const Json next = parse_json(bench.run(words).out, "nightly");
  REQUIRE(next["left_out"].size() == 1);
  CHECK(next["left_out"][0]["case"] != left);
}
