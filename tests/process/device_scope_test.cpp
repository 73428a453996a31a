// Parts of a host as a user runs them, with the real rank.
#include <fstream>

#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

/// The report of a run of the case on this host, which lists these devices.
Json run_case(const BenchctlFolder& bench, const Json& scope, const Json& devices) {
  const auto suite = bench.folder.path() / "suite.json", hosts = bench.folder.path() / "hosts.json";
  const Json one = {{"name", "parts"}, {"probe", "null"}, {"scope", scope}};
  std::ofstream(suite) << Json{{"suite", "parts"}, {"cases", {one}}};
  std::ofstream(hosts) << Json{
      {"hosts", {{{"name", "localhost"}, {"slots", 2}, {"devices", devices}}}}};
  const Answer run = bench.run({"run", suite.string(), "--hosts", hosts.string(), "--json"});
  INFO(run.err);
  REQUIRE_THAT(run.out, Contains("results"));
  return parse_json(run.out, "run --json");
}

}  // namespace

TEST_CASE("the CPU as a device has its own job, and its results name it") {
  const BenchctlFolder bench;
  const Json report = run_case(bench, "device", {"cuda:0"});
  REQUIRE(report["jobs"].size() == 1);
  CHECK(report["outcome"] == "ok");
  REQUIRE_FALSE(report["results"].empty());
  for (const Json& result : report["results"]) CHECK(result["params"]["device"] == "cpu");
  CHECK_THAT(bench.run({"show"}).out, Contains("device cpu"));
}

TEST_CASE("hosts are grouped by a fact from an earlier run in the database") {
  const BenchctlFolder bench;
  run_case(bench, "device", Json::array());
  const auto suite = bench.folder.path() / "by_fact.json",
             hosts = bench.folder.path() / "hosts.json";
  const auto plan = [&](const std::string& fact) {
    const Json one = {{"name", "by"}, {"probe", "null"}, {"scope", {{"group", {{"fact", fact}}}}}};
    std::ofstream(suite) << Json{{"suite", "by"}, {"cases", {one}}};
    return bench.run({"plan", suite.string(), "--hosts", hosts.string(), "--json"});
  };
  const Answer known = plan("kernel");
  INFO(known.err);
  CHECK(parse_json(known.out, "plan").at("jobs").size() == 1);
  const Answer unknown = plan("kernal");
  CHECK(unknown.exit.text() == "exit code 2");
  CHECK_THAT(unknown.err, Contains("Did you mean 'kernel'?"));
}

TEST_CASE("a NUMA node has its own job, and a missing one fails by name") {
  if (!std::filesystem::exists("/sys/devices/system/node/node0")) {
    WARN("this machine shows no NUMA nodes");
    return;
  }
  const BenchctlFolder bench;
  const Json report = run_case(bench, {{"device", "numa"}}, {"numa:0", "numa:977"});
  REQUIRE(report["jobs"].size() == 2);
  CHECK(report["jobs"][0]["outcome"] == "ok");
  CHECK(report["jobs"][0]["part"] == Json{{"device", "numa:0"}});
  CHECK(report["results"][0]["params"]["device"] == "numa:0");
  CHECK(report["jobs"][1]["outcome"] == "failed");
  CHECK_THAT(report["jobs"][1]["reason"].get<std::string>(), Contains("has no NUMA node 977"));
}
