#include "results/store/history.h"

#include <cmath>

#include "core/error.h"
#include "results/run/run_summary.h"
#include "results/store/history_rows.h"
#include "results/store/journal.h"
#include "tests/results/database.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kDay = 86'400'000'000'000;

/// A run of one gemm series and one of a metric that sorts after it, `day` days after the first.
RunFixture nightly(const std::string& id, int day, double rate) {
  RunFixture run(id);
  run.plan["time_ns"] = start_ns() + day * kDay;
  run.job("a", "gemm", "gemm").job("b", "null", "null");
  run.add("a", samples("throughput", rate, 20, {{"m", 512}}));
  run.add("b", samples("time", rate / 1e9, 20));
  return run.outcome("a").outcome("b").end();
}

struct HistoryDatabase {
  TemporaryDirectory folder;
  fs::path db = folder.path() / "results.sqlite";
  fs::path journal = folder.path() / "journal.jsonl";
  Store store = Store::open(db, Access::write);

  void add(const RunFixture& run) { store.import_run(run.write(folder.path() / "runs")); }
  std::vector<SeriesHistory> all(const Selection& selection = {}) const {
    std::vector<SeriesHistory> found;
    Histories(store).each(selection,
                          [&](const SeriesHistory& history) { found.push_back(history); });
    return found;
  }
};

std::vector<double> values_of(const SeriesHistory& history) {
  std::vector<double> values;
  for (const Point& point : history.points) values.push_back(point.value);
  return values;
}

}  // namespace

TEST_CASE("a history has one value per run, oldest first, regardless of import order") {
  HistoryDatabase database;
  for (const int day : {2, 0, 1})
    database.add(nightly("run-" + std::to_string(day), day, 1e9 * (1 + day)));
  const auto found = database.all();
  REQUIRE(found.size() == 2);
  CHECK(found[0].key.metric == "gemm.throughput");
  CHECK(found[0].key.params == Json{{"m", 512}});
  CHECK(found[0].key.host == "node1");
  CHECK(found[0].key.device == "host");
  CHECK(found[0].key.unit == Unit::flop_per_second);
  CHECK(found[1].key.metric == "null.time");
  CHECK(values_of(found[0]) == std::vector<double>{1e9, 2e9, 3e9});
  const Point& last = found[0].points.back();
  CHECK(last.run == 3);
  CHECK(last.time_ns == start_ns() + 2 * kDay);
  CHECK(last.low < 3e9);
  CHECK(last.high > 3e9);
  CHECK(std::isnan(last.of_limit));
  CHECK(Histories(database.store).run(3).id == "run-2");
  CHECK_THROWS_AS(Histories(database.store).run(4), Error);
}

TEST_CASE("a selection matches metrics by prefix, runs by time, label and name") {
  HistoryDatabase database;
  for (int day = 0; day < 12; ++day) {
    RunFixture run = nightly("run-" + std::to_string(10 + day), day, 1e9 + day);
    run.plan["labels"] = {{"driver", day < 6 ? "550" : "560"}};
    database.add(run);
  }
  CHECK(database.all({.metrics = {"gemm"}}).size() == 1);
  CHECK(database.all({.metrics = {"gem", "null.time"}}).size() == 2);
  CHECK(database.all({.hosts = {"node"}}).empty());
  CHECK(database.all({.devices = {"cuda"}}).empty());
  CHECK(database.all({.labels = {{"driver", "560"}}})[0].points.size() == 6);
  CHECK(database.all({.labels = {{"driver", "5"}}}).empty());
  CHECK(values_of(database.all({.runs = {"run-13", "run-11"}})[0]) ==
        std::vector<double>{1e9 + 1, 1e9 + 3});
  const std::int64_t day = start_ns() + 2 * kDay;
  CHECK(values_of(database.all({.from_ns = day, .to_ns = day + 2 * kDay})[0]) ==
        std::vector<double>{1e9 + 2, 1e9 + 3});
  CHECK(values_of(database.all({.most_points = 2})[0]) == std::vector<double>{1e9 + 10, 1e9 + 11});
  CHECK(Histories(database.store).runs({.runs = {"run-20"}}) == std::vector<std::int64_t>{11});
}

TEST_CASE("reading a few runs and reading all runs agree") {
  HistoryDatabase database;
  for (int day = 0; day < 10; ++day)
    database.add(nightly("run-" + std::to_string(day), day, 1 + day));
  const auto all = database.all();
  const auto few = database.all({.runs = {"run-7", "run-8", "run-9"}});
  REQUIRE(few.size() == all.size());
  for (std::size_t i = 0; i < few.size(); ++i) {
    CHECK(few[i].key.id == all[i].key.id);
    REQUIRE(few[i].points.size() == 3);
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(few[i].points[k].value == all[i].points[k + 7].value);
      CHECK(few[i].points[k].run == all[i].points[k + 7].run);
    }
  }
}

TEST_CASE("a discarded run has no points until it is restored") {
  HistoryDatabase database;
  database.add(nightly("run-0", 0, 1e9));
  database.add(nightly("run-1", 1, 2e9));
  append(database.journal, {0, 5, "ann", JournalKind::discard, "run-0", "fan"});
  database.store.import_journal(database.journal);
  CHECK(values_of(database.all()[0]) == std::vector<double>{2e9});
  append(database.journal, {0, 6, "ann", JournalKind::restore, "run-0", ""});
  database.store.import_journal(database.journal);
  CHECK(database.all()[0].points.size() == 2);
}

TEST_CASE("run numbers that no import gives are refused, whatever a foreign database holds") {
  for (const char* number : {"-5", "0", "4611686018427387904"}) {
    INFO(number);
    HistoryDatabase database;
    database.add(nightly("run-0", 0, 1e9));
    database.store.database().exec(std::string("UPDATE run_number SET number = ") + number);
    CHECK_THROWS_WITH(Histories(database.store),
                      Catch::Contains("run 'run-0' has the number " + std::string(number)));
  }
}

TEST_CASE("a run without a number does not shift the others, and params are always an object") {
  HistoryDatabase database;
  database.add(nightly("run-0", 0, 1e9));
  database.add(nightly("run-1", 1, 2e9));
  database.store.database().exec("DELETE FROM run_number WHERE run = 'run-0'");
  database.store.database().exec("UPDATE history SET params = '[1]'");
  const Histories histories(database.store);
  CHECK(histories.run(1).id == "run-1");
  CHECK_THROWS_AS(histories.run(2), Error);
  for (const SeriesHistory& series : database.all()) CHECK(series.key.params == Json::object());
}

TEST_CASE("reimporting a run replaces its points and keeps its number") {
  HistoryDatabase database;
  database.add(nightly("run-0", 0, 1e9));
  database.add(nightly("run-1", 1, 2e9));
  database.add(nightly("run-0", 0, 3e9));
  CHECK(values_of(database.all()[0]) == std::vector<double>{3e9, 2e9});
  CHECK(ask(database.db, "SELECT COUNT(*) FROM point") == 4);
  CHECK(ask(database.db, "SELECT number FROM run_number WHERE run = 'run-0'") == 1);
}

TEST_CASE("values that are not ok or have no clean sample are not points") {
  RunFixture run;
  run.job("a", "gemm", "gemm").job("b", "gemm", "gemm").job("c", "gemm", "gemm");
  Samples bad = samples("throughput", 1e9, 20, {{"m", 1}});
  bad.outcome = Status::invalid;
  Samples crowded = samples("throughput", 1e9, 20, {{"m", 2}});
  crowded.flags.assign(20, kCrowded);
  run.add("a", bad).add("b", crowded).add("c", samples("throughput", 1e9, 20, {{"m", 3}}));
  for (const char* job : {"a", "b", "c"}) run.outcome(job);
  const RunValues found = run_values(make_run_summary(run.records()));
  REQUIRE(found.values.size() == 1);
  CHECK(found.values[0].key.params == Json{{"m", 3}});
}

TEST_CASE("repeats of a run are one value, the median, with their range as interval") {
  RunFixture run;
  for (int i = 0; i < 3; ++i) {
    const std::string id = "a" + std::to_string(i);
    run.job(id, "gemm", "gemm").add(id, samples("throughput", 1e9 + i * 1e7)).outcome(id);
  }
  const RunValues found = run_values(make_run_summary(run.records()));
  REQUIRE(found.values.size() == 1);
  CHECK(found.values[0].point.value == Approx(1.01e9));
  CHECK(found.values[0].point.low == Approx(1.00e9));
  CHECK(found.values[0].point.high == Approx(1.02e9));
}

TEST_CASE("values with different settings are never mixed") {
  RunFixture run;
  run.job("a", "dense", "gemm", {{"values", "random"}, {"packed", true}});
  run.job("b", "zeros", "gemm", {{"values", "zeros"}, {"packed", true}});
  run.add("a", samples("throughput", 1e9)).add("b", samples("throughput", 2e9));
  run.outcome("a").outcome("b");
  const RunValues found = run_values(make_run_summary(run.records()));
  REQUIRE(found.values.size() == 2);
  CHECK(found.values[0].key.params == Json{{"values", "random"}});
  CHECK(found.values[1].key.params == Json{{"values", "zeros"}});
}

TEST_CASE("a library's own choice is recorded with the value but makes no separate series") {
  RunFixture run;
  run.job("a", "gemm", "gemm").job("b", "gemm", "gemm");
  run.add("a", samples("throughput", 1e9, 20, {{"m", 1}, {"implementation", "avx2"}}));
  run.add("b", samples("throughput", 2e9, 20, {{"m", 2}, {"implementation", "avx2"}}));
  run.add("b", samples("throughput", 3e9, 20, {{"m", 2}, {"implementation", "amx"}}));
  run.outcome("a").outcome("b");
  const RunValues found = run_values(make_run_summary(run.records()));
  REQUIRE(found.values.size() == 3);
  CHECK(found.values[0].key.params == Json{{"m", 1}});
  CHECK(found.configurations.at(0)["implementation"] == "avx2");
  CHECK(found.values[2].key.params == Json{{"m", 2}, {"implementation", "amx"}});
}

TEST_CASE("devices, ranks and sets of hosts have separate histories") {
  RunFixture run;
  run.job("a", "gemm", "gemm").job("b", "gemm", "gemm").job("c", "all", "collective", {}, 2);
  run.job("d", "pair", "collective", {}, 2);
  run.plan["jobs"][0]["part"] = {{"device", "cuda:0"}};
  run.plan["jobs"][1]["part"] = {{"device", "cuda:1"}};
  run.plan["jobs"][3]["hosts"] = {"node1", "node2"};
  run.add("a", samples("throughput", 1e9)).add("b", samples("throughput", 2e9));
  run.add("c", samples("busbw", 1e9), 0).add("c", samples("busbw", 2e9), 1);
  Samples both = samples("busbw", 3e9);
  both.over = "max";
  run.add("d", both);
  for (const char* job : {"a", "b", "c", "d"}) run.outcome(job);
  const auto found = run_values(make_run_summary(run.records())).values;
  REQUIRE(found.size() == 5);
  CHECK(found[0].key.device == "cuda:0");
  CHECK(found[1].key.device == "cuda:1");
  CHECK(found[0].key.params.empty());
  CHECK(found[2].key.params == Json{{"rank", 0}});
  CHECK(found[3].key.params == Json{{"rank", 1}});
  CHECK(found[4].key.host.empty());
  CHECK(found[4].key.params == Json{{"hosts", 2}});
  CHECK(found[4].key.over == "max");
}

TEST_CASE("configurations record the environment, and changes list the differences") {
  const auto configured = [](const std::string& onednn, const std::string& kernel) {
    RunFixture run;
    run.job("a", "gemm", "gemm", {{"packed", true}, {"shapes", {1, 2}}});
    run.add("", Facts{"host", {{"kernel", kernel}, {"turbo", "unreadable: no rights"}}});
    run.add(
        "",
        Facts{"program",
              {{"program", "bench-rank"}, {"version", "1"}, {"libraries", {{"onednn", onednn}}}}});
    run.add("a", samples("throughput", 1e9)).outcome("a");
    return run_values(make_run_summary(run.records())).configurations.at(0);
  };
  const Json before = configured("2.6", "6.1.0"), after = configured("3.0", "6.1.0");
  CHECK(before["library.onednn"] == "2.6");
  CHECK(before["kernel"] == "6.1.0");
  CHECK(before["setting.packed"] == "true");
  CHECK_FALSE(before.contains("turbo"));
  CHECK_FALSE(before.contains("setting.shapes"));
  const auto found = changes(before, after);
  REQUIRE(found.size() == 1);
  CHECK(found[0].fact == "library.onednn");
  CHECK(found[0].before == "2.6");
  CHECK(found[0].after == "3.0");
  CHECK(changes(before, {{"kernel", "6.1.0"}, {"gpu_driver", "550"}}).empty());
}
