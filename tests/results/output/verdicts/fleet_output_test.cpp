// A fleet's report as text, JSON and page; and from a database.
#include "results/output/verdicts/fleet_output.h"

#include <fmt/format.h>

#include <set>

#include "core/schema.h"
#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/store/journal.h"
#include "results/verdicts/fleet/fleet_report.h"
#include "results/verdicts/peers/host_kinds.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/occurrences.h"
#include "tests/support/rendered.h"
#include "tests/support/simulated_fleet.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

constexpr TextStyle kPlainFleet{false, false, 200};

FleetReport small_fleet() {
  std::mt19937_64 random(1);
  SimulatedFleet fleet;
  fleet.hosts = 16;
  fleet.metrics = 3;
  fleet.host_noise = fleet.run_noise = 0.001;
  fleet.bad = 1;
  fleet.lost = 0.1;
  return judged_fleet(fleet, random);
}

/// A run of one metric over hosts, `day` days after the first; host 0 has `first`.
RunFixture run_over(int day, std::size_t hosts, double first) {
  RunFixture run("run-" + std::to_string(10 + day));
  run.plan["time_ns"] = start_ns() + day * std::int64_t{86'400'000'000'000};
  for (std::size_t h = 0; h < hosts; ++h) {
    const std::string job = "job" + std::to_string(h);
    run.job(job, "gemm", "gemm");
    run.plan["jobs"].back()["hosts"] = {simulated_host(h)};
    Record record{
        job, simulated_host(h), 0, start_ns() + 1,
        samples("throughput", h == 0 ? first : 1e12 * (1.0 + 0.0003 * static_cast<double>(h)))};
    run.lines += dump(to_json(record)) + "\n";
    record.body = Outcome{h == 1 && day == 1 ? Status::failed : Status::ok,
                          h == 1 && day == 1 ? "signal 9" : "", 1.0};
    run.lines += dump(to_json(record)) + "\n";
  }
  return run.end();
}

}  // namespace

TEST_CASE("that a fleet is too small to compare its hosts is said once") {
  std::mt19937_64 random(1);
  SimulatedFleet fleet;
  fleet.hosts = 3;
  fleet.metrics = 5;
  fleet.bad = 0;
  const FleetReport report = judged_fleet(fleet, random);
  CHECK(report.verdict == Verdict::inconclusive);
  const std::string text = to_text(report, kPlainFleet);
  CHECK_THAT(text, Contains("all hosts: 5 metrics on too few hosts of its kind, peer comparison "
                            "needs 4 -> add hosts"));
  CHECK(occurrences(text, "peer comparison needs") == 1);
}

TEST_CASE("metrics that noise hides are listed once, with the loss that could be seen") {
  FleetSettings settings;
  settings.now_ns = SimulatedFleet{}.now_ns;
  std::mt19937_64 random(5);
  SimulatedFleet fleet;
  fleet.hosts = 8;
  fleet.host_noise = fleet.run_noise = 0.0005;
  FleetJudge judge(settings);
  judge.take(simulated_series(fleet, "demo.bandwidth", random));
  fleet.run_noise = 0.04;
  judge.take(simulated_series(fleet, "demo.latency", random));
  const FleetReport report = judge.finish();
  const std::string text = to_text(report, kPlainFleet);
  CHECK_THAT(text,
             Contains("8 hosts: 8 pass, 0 fail, 0 inconclusive; 1 of 2 metrics not resolved"));
  CHECK(occurrences(text, "demo.latency: on ") == 1);
  CHECK_THAT(text, Contains("cannot be seen; 1.0 % should be"));
  const Json json = Json::parse(dump(to_json(report)));
  CHECK_NOTHROW(Schema::load("schemas/report_fleet.json").check(json, "fleet"));
  CHECK(json["metrics"][1]["unresolved"] >= 7);
}

TEST_CASE("the text of a fleet names failed hosts, losses and learned criteria") {
  const std::string text = to_text(small_fleet(), kPlainFleet);
  CHECK_THAT(text, Contains("16 hosts: 15 pass, 1 fail"));
  CHECK_THAT(text, Contains("node0016  FAIL"));
  CHECK_THAT(text, Contains("worse than the median of its 15 peers"));
  CHECK_THAT(text, Contains("3 of 3 learned"));
  const std::string markdown = to_markdown(to_document(small_fleet()));
  CHECK_THAT(markdown, Contains("16 hosts: 15 pass, 1 fail"));
  CHECK_THAT(markdown, Contains("| **node0016** | **FAIL** |"));
  CHECK_THAT(markdown, Contains("worse than the median of its 15 peers"));
}

TEST_CASE("the JSON of a fleet matches its schema, even if empty") {
  const Schema schema = Schema::load("schemas/report_fleet.json");
  const FleetReport report = small_fleet();
  const Json json = Json::parse(dump(to_json(report)));
  CHECK_NOTHROW(schema.check(json, "fleet"));
  CHECK(json["hosts"][0]["host"] == "node0016");
  CHECK(json["hosts"][0]["verdict"] == "fail");
  CHECK(json["results"].size() == 48);
  CHECK_NOTHROW(Schema::load("schemas/fleet_profile.json").check(json["learned"], "learned"));
  FleetJudge nobody({});
  const FleetReport none = nobody.finish();
  CHECK_NOTHROW(schema.check(Json::parse(dump(to_json(none))), "nobody"));
  CHECK(none.exit_code == ExitCode::not_measured);
  CHECK_THAT(to_text(none, kPlainFleet), Contains("No host was measured"));
}

TEST_CASE("the fleet page has hosts, map and distributions, and escapes text") {
  FleetSettings settings;
  settings.now_ns = SimulatedFleet{}.now_ns;
  std::mt19937_64 random(2);
  SimulatedFleet fleet;
  fleet.hosts = 8;
  FleetSeries series = simulated_series(fleet, "demo.bandwidth", random);
  series.members[0].host = "<script>alert(1)</script>";
  series.members[0].kind = "\x1b[2J";
  series.params = {{"<b>", "\"><img src=x>"}};
  FleetJudge judge(settings);
  judge.take(series);
  const FleetReport report = judge.finish();
  const std::string html = to_page(to_document(report)), text = to_text(report, kPlainFleet);
  CHECK(html.find("<script>alert") == std::string::npos);
  CHECK(html.find("<img") == std::string::npos);
  CHECK(html.find('\x1b') == std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK_THAT(html, Contains("<h2>Map</h2>"));
}

TEST_CASE("the page of a thousand hosts and twenty metrics stays below three megabytes") {
  std::mt19937_64 random(3);
  SimulatedFleet fleet;
  fleet.hosts = 1000;
  fleet.metrics = 20;
  fleet.bad = 30;
  const std::string html = to_page(to_document(judged_fleet(fleet, random)));
  CHECK(html.size() < 3'000'000);
  CHECK_THAT(html, Contains("node1000"));
}

TEST_CASE(
    "a fleet is read from the database: values by metric, faults by host, discarded runs not") {
  TemporaryDirectory folder;
  const auto runs = folder.path() / "runs";
  Store store = Store::open(folder.path() / "results.sqlite", Access::write);
  for (int day = 0; day < 4; ++day) store.import_run(run_over(day, 8, 0.9e12).write(runs));
  const auto journal = folder.path() / "journal.jsonl";
  write_text(journal, dump(Json{{"time_ns", 1},
                                {"user", "a"},
                                {"kind", "discard"},
                                {"run", "run-13"},
                                {"text", "drill"}}) +
                          "\n");
  store.import_journal(journal);
  FleetSettings settings;
  settings.now_ns = start_ns() + 4 * std::int64_t{86'400'000'000'000};
  settings.thresholds = {{"gemm.throughput", 0.03}};
  FleetJudge judge(settings);
  const Histories histories(store);
  std::size_t series = 0;
  for_each_fleet_series(histories, {}, [&](FleetSeries one) {
    ++series;
    CHECK(one.members.size() == 8);
    CHECK(one.members[0].values.size() == 3);
    judge.take(std::move(one));
  });
  CHECK(series == 1);
  const auto faults = fleet_faults(store, 0);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].host == simulated_host(1));
  CHECK(fleet_faults(store, settings.now_ns).empty());
  const FleetReport report = judge.finish(faults);
  CHECK(failed_hosts(report) == std::set<std::string>{simulated_host(0)});
}

TEST_CASE("groups of two and four ranks are separate metrics of a fleet") {
  RunFixture run("run-10");
  run.plan["time_ns"] = start_ns();
  for (std::size_t h = 0; h < 8; ++h)
    for (const int ranks : {1, 2, 4}) {
      const std::string job = fmt::format("job{}-{}", h, ranks);
      run.job(job, "gemm", "gemm");
      run.plan["jobs"].back()["hosts"] = {simulated_host(h)};
      run.plan["jobs"].back()["ranks"] = ranks;
      Samples values = samples("throughput", 1e12);
      values.over = "max";
      Record record{job, simulated_host(h), 0, start_ns() + 1, std::move(values)};
      run.lines += dump(to_json(record)) + "\n";
      record.body = Outcome{Status::ok, "", 1.0};
      run.lines += dump(to_json(record)) + "\n";
    }
  const TemporaryDirectory folder;
  Store store = Store::open(folder.path() / "results.sqlite", Access::write);
  store.import_run(run.end().write(folder.path() / "runs"));
  std::set<std::string> params;
  for_each_fleet_series(Histories(store), {}, [&](const FleetSeries& one) {
    params.insert(dump(one.params));
    CHECK(one.members.size() == 8);
  });
  CHECK(params == std::set<std::string>{"{}", R"({"ranks":2})", R"({"ranks":4})"});
}

TEST_CASE("the kind of a host is product, processor, threads, memory and GPU names") {
  const Json one = {{"product", "X1"},         {"cpu_model", "Epyc"},  {"hardware_threads", "64"},
                    {"gpu.0.name", "H100"},    {"gpu.1.name", "H100"}, {"gpus", "2"},
                    {"gpu.0.uuid", "GPU-one"}, {"kernel", "6.1"}};
  Json other = one;
  other["gpu.0.uuid"] = "GPU-two";
  other["kernel"] = "6.8";
  CHECK(kind_of_host(one) == "X1 | Epyc | 64 threads | 2 GPUs | H100");
  CHECK(kind_of_host(other) == kind_of_host(one));
  other["gpu.1.name"] = "H200";
  CHECK(kind_of_host(other) != kind_of_host(one));
  CHECK(kind_of_host(Json()) == "");
}
