// Raw samples of old runs are thinned; everything that is concluded from them stays.
#include "results/run/retention.h"

#include <algorithm>

#include "results/run/run_summary.h"
#include "results/store/journal.h"
#include "results/store/store.h"
#include "tests/results/database.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;

namespace {

RunFixture measured() {
  RunFixture run;
  run.plan["gates"] = {{"fast", {{{"metric", "throughput"}, {"min", 90}}}},
                       {"slow", {{{"metric", "throughput"}, {"min", 110}}}}};
  run.job("1", "fast", "gemm").job("2", "slow", "gemm").job("3", "odd", "gemm");
  Samples unclean = samples("throughput", 100, 300);
  for (std::size_t i = 0; i < unclean.flags.size(); i += 3) unclean.flags[i] = kStolen;
  unclean.limit = Limit{120, LimitKind::datasheet, "sheet", {}};
  Samples broken = samples("throughput", 100, 150);
  broken.values[77] = NAN;
  run.add("1", samples("throughput", 100, 200)).outcome("1");
  run.add("2", unclean).outcome("2");
  run.add("3", broken).outcome("3");
  return run.end();
}

/// All but what is meant to go: samples and the facts that stand for them.
std::vector<std::string> conclusions(const std::filesystem::path& database) {
  std::vector<std::string> rows = logical_dump(database);
  std::erase_if(rows, [](const std::string& row) {
    return row.starts_with("sample_blob|") || row.starts_with("meta|") ||
           row.find(kThinnedTopic) != std::string::npos;
  });
  return rows;
}

/// Records are numbered in their table, and the summaries take numbers of their own.
std::vector<std::string> without_positions(std::vector<std::string> rows) {
  for (std::string& row : rows)
    if (row.starts_with("event|")) row = row.substr(row.find("|node1|"));
  std::ranges::sort(rows);
  return rows;
}

}  // namespace

TEST_CASE("a database rebuilt after thinning has the same verdicts and statistics") {
  const TemporaryDirectory folder;
  const auto runs = folder.path() / "runs";
  const RunFixture run = measured();
  run.write(runs);
  const auto before = folder.path() / "before.sqlite", after = folder.path() / "after.sqlite";
  rebuild(before, runs, folder.path() / "journal.jsonl");
  const Thinned thinned = thin_records(run.lines, 20);
  CHECK(thinned.series == 3);
  CHECK(thinned.samples == 180 + 280 + 130);
  CHECK(thinned.text.size() < run.lines.size() / 2);
  write_text(runs / run.id() / "records.jsonl", thinned.text);
  rebuild(after, runs, folder.path() / "journal.jsonl");
  CHECK(without_positions(conclusions(after)) == without_positions(conclusions(before)));
  const RunRecords kept = read_run(runs / run.id());
  std::size_t samples = 0;
  for (const Record& record : kept.records)
    if (const auto* body = std::get_if<Samples>(&record.body)) samples += body->values.size();
  CHECK(samples == 3 * 20);
  const auto& gates = make_run_summary(kept).gates;
  CHECK(std::ranges::count(gates, Verdict::fail, &GateResult::verdict) == 1);
}

TEST_CASE("thinning is idempotent and leaves small series unchanged") {
  const RunFixture run = measured();
  const std::string once = thin_records(run.lines, 20).text;
  CHECK(thin_records(once, 20).text == once);
  CHECK(thin_records(once, 5).text == once);
  CHECK(thin_records(run.lines, 1000).text == run.lines);
}

TEST_CASE("torn lines and lines that are not records stay unchanged") {
  const std::string torn =
      "{\"kind\":\"samples\",\"val\n\nnonsense \"kind\":\"samples\"\n{\"kind\":";
  const Thinned thinned = thin_records(torn, 1);
  CHECK(thinned.text == torn);
  CHECK(thinned.series == 0);
}

TEST_CASE("a corrupt summary makes its series invalid") {
  RunFixture run;
  run.job("1", "fast", "gemm").add("1", samples("throughput", 100, 20));
  run.add("1", Facts{kThinnedTopic, {{"n", 200}, {"median", "x"}, {"outcome", 5}}});
  run.outcome("1").end();
  const RunSummary report = make_run_summary(run.records());
  REQUIRE(report.results.size() == 1);
  CHECK(report.results[0].series.outcome == Status::invalid);
  CHECK(std::isnan(report.results[0].series.median));
}

TEST_CASE("a summary of another job is ignored") {
  RunFixture run;
  run.job("1", "fast", "gemm").job("2", "other", "gemm");
  run.add("1", samples("throughput", 100, 20));
  run.add("2", Facts{kThinnedTopic, {{"n", 1}, {"median", 1}, {"outcome", "ok"}}});
  run.outcome("1").outcome("2").end();
  CHECK(make_run_summary(run.records()).results[0].series.median == Approx(100));
}

TEST_CASE("thinned records are compared with the original before they replace it") {
  const RunFixture run = measured();
  const std::string thinned = thin_records(run.lines, 20).text;
  CHECK_NOTHROW(check_thinned(run.lines, thinned));
  CHECK_NOTHROW(check_thinned(thinned, thinned));
  const auto refused = [&](const std::string& other) {
    CHECK_THROWS_WITH(check_thinned(run.lines, other), Catch::Contains("thinning would"));
  };
  for (std::size_t begin = 0; begin < thinned.size(); begin = thinned.find('\n', begin) + 1) {
    std::string without = thinned;
    without.erase(begin, thinned.find('\n', begin) + 1 - begin);
    refused(without);
  }
  refused(thinned.substr(0, thinned.size() / 2));
  refused(thinned + "{}\n");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = thinned;
    REQUIRE(other.find(from) != std::string::npos);
    refused(other.replace(other.find(from), from.size(), to));
  };
  changed("\"values\":[", "\"values\":[17.5,");
  changed("\"n\":200", "\"n\":199");
  changed("\"job\":\"1\"", "\"job\":\"2\"");
}
