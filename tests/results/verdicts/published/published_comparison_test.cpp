#include "results/verdicts/published/published_comparison.h"

#include "core/error.h"
#include "core/schema.h"
#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/output/document/terminal.h"
#include "results/output/mlperf/published_comparison_output.h"
#include "tests/mlperf/published_fixture.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

using Catch::Matchers::Contains;

constexpr TextStyle kBroad{false, false, 240};

template <class Report>
void keeps_to_compare_schema(const Report& report) {
  CHECK_NOTHROW(Schema::load("schemas/report_mlperf_compare.json")
                    .check(Json::parse(dump(to_json(report))), "compare"));
}

}  // namespace

TEST_CASE("systems of a benchmark are ranked by score, with accelerator minutes") {
  PublishedEntry failed = published("corp", "broken", 1, 1.0);
  failed.score_minutes = kNoValue;
  failed.no_score = "two runs failed";
  const auto ranked = ranked_benchmarks(
      {failed, published("acme", "small", 1, 60.0), published("corp", "big", 4, 20.0)});
  REQUIRE(ranked.size() == 1);
  REQUIRE(ranked[0].entries.size() == 3);
  CHECK(ranked[0].entries[0].entry.system == "big");
  CHECK(ranked[0].entries[0].accelerator_minutes == Approx(640.0));
  CHECK(ranked[0].entries[0].per_accelerator == Approx(640.0 / 480.0));
  CHECK(ranked[0].entries[1].per_accelerator == Approx(1.0));
  CHECK(ranked[0].entries[2].entry.system == "broken");
  CHECK_THAT(to_terminal(to_document(ranked), kBroad),
             Contains("x 1.33") && Contains("two runs failed") &&
                 Contains("not verified by MLCommons") && Contains("derived"));
  CHECK_THAT(to_page(to_document(ranked)), Contains("<table") && Contains("x 1.33"));
  CHECK_THAT(to_markdown(to_document(ranked)),
             Contains("| x 1.33 |") && Contains("big") && Contains("not verified by MLCommons"));
  keeps_to_compare_schema(ranked);
}

TEST_CASE("prices give the cost of a run, by the longest words of the accelerator's name") {
  const auto with = [](PublishedEntry entry, const char* accelerator) {
    entry.description.accelerator = accelerator;
    entry.description.processor = "EPYC 9654";
    return entry;
  };
  const auto ranked = ranked_benchmarks(
      {with(published("acme", "small", 1, 60.0), "NVIDIA H100-SXM5-80GB"),
       with(published("corp", "big", 4, 20.0), "NVIDIA H100-PCIe"),
       with(published("else", "free", 1, 90.0), "NVIDIA GB200")},
      {{"h100", 2.0}, {"h100-sxm", 6.0}, {"b200", 9.0}, {"epyc 9654", 1.2}, {"corp", 7.0}});
  REQUIRE(ranked[0].entries.size() == 3);
  CHECK(ranked[0].entries[0].cost == Approx(640.0 / 60.0 * 2.0));
  CHECK(ranked[0].entries[1].cost == Approx(480.0 / 60.0 * 6.0));
  CHECK(ranked[0].entries[1].cost_ratio == Approx(48.0 / (640.0 / 30.0)));
  CHECK(std::isnan(ranked[0].entries[2].cost));
  CHECK_THAT(to_terminal(to_document(ranked), kBroad),
             Contains("ratio to cheapest") && Contains("x 2.25") && Contains("currency"));
  keeps_to_compare_schema(ranked);
}

TEST_CASE("the name of an accelerator may be in parentheses") {
  PublishedEntry entry = published("acme", "small", 1, 60.0);
  entry.description.accelerator = "NVIDIA Blackwell Ultra GPU (GB300)";
  CHECK(names_accelerator(entry, "gb300"));
  CHECK(names_accelerator(entry, "ultra (gb300)"));
  CHECK_FALSE(names_accelerator(entry, "b300"));
  entry.description.accelerator = "NVIDIA Blackwell GPU (B200-SXM-180GB)";
  CHECK(names_accelerator(entry, "b200-sxm"));
  CHECK_FALSE(names_accelerator(entry, "gb200"));
}

TEST_CASE("two generations are compared at equal accelerator counts by the rules of compare") {
  const PublishedSide a{"X1", {published("acme", "old", 1, 60.0)}};
  const PublishedSide b{"X2", {published("acme", "new", 1, 40.0)}};
  const PublishedComparison found = compare_published(a, b);
  REQUIRE(found.comparison.metrics.size() == 1);
  const ComparedMetric& metric = found.comparison.metrics[0];
  CHECK(metric.key.metric == "mlperf.scored_time");
  CHECK(metric.key.ranks == 8);
  CHECK(metric.verdict == ChangeVerdict::improved);
  CHECK(metric.ratio == Approx(2.0 / 3.0).epsilon(0.01));
  CHECK(metric.a.n == 10);
  CHECK(found.unequal.empty());
  CHECK(found.geometric_mean == Approx(2.0 / 3.0));
  CHECK(found.exit_code() == ExitCode::ok);
  CHECK_THAT(to_terminal(to_document(found), kBroad), Contains("not verified by MLCommons"));
  keeps_to_compare_schema(found);
  CHECK(compare_published(b, a).exit_code() == ExitCode::failed);
}

TEST_CASE("comparisons include the factor of the convergence test") {
  PublishedEntry scaled = published("acme", "new", 1, 60.0);
  scaled.scaling_factor = 1.1;
  scaled.score_minutes = 66.0;
  const auto found = compare_published({"A", {published("acme", "old", 1, 60.0)}}, {"B", {scaled}});
  CHECK(found.comparison.metrics.at(0).ratio == Approx(1.1).epsilon(1e-3));
}

TEST_CASE("different accelerator counts are compared in accelerator time at the nearest sizes") {
  const PublishedSide a{"X1",
                        {published("acme", "one", 1, 60.0), published("acme", "two", 2, 32.0)}};
  const PublishedSide b{"X2", {published("corp", "four", 4, 12.0)}};
  const PublishedComparison found = compare_published(a, b);
  CHECK(found.comparison.metrics.empty());
  REQUIRE(found.unequal.size() == 1);
  CHECK(found.unequal[0].system_a == "acme two");
  CHECK(found.unequal[0].ratio.value == Approx(12.0 * 32.0 / (32.0 * 16.0)));
  CHECK(found.unequal[0].ratio.low < found.unequal[0].ratio.value);
  CHECK(found.exit_code() == ExitCode::ok);
  CHECK_THAT(to_terminal(to_document(found), kBroad),
             Contains("Different numbers of accelerators") &&
                 Contains("derived, not an official MLPerf metric"));
  keeps_to_compare_schema(found);
}

TEST_CASE("results with copied logs are left out") {
  const auto with_logs = [](PublishedEntry entry, Digest first) {
    for (PublishedRun& run : entry.runs) run.digest = first++;
    return entry;
  };
  const PublishedEntry old = with_logs(published("acme", "old", 1, 60.0), 100);
  const PublishedSide b{"X2", {with_logs(published("acme", "new", 1, 60.0), 200)}};
  CHECK(compare_published({"X1", {old}}, b).warnings.empty());
  PublishedEntry copied = old;
  copied.system = "renamed";
  const PublishedComparison twice = compare_published({"X1", {old, copied}}, b);
  CHECK(twice.comparison.metrics.at(0).a.n == 10);
  REQUIRE(twice.warnings.size() == 1);
  CHECK_THAT(twice.warnings[0], Contains("llama31_8b of acme renamed is left out: 10 of its 10"));
  CHECK_THAT(to_terminal(to_document(twice), kBroad), Contains("10 of its 10 logs are copies"));
  keeps_to_compare_schema(twice);
  CHECK_THROWS_WITH(compare_published({"X1", {old}}, {"X2", {copied}}), Contains("no result"));
  PublishedEntry mixed = with_logs(published("corp", "mixed", 2, 60.0), 300);
  mixed.runs[3].digest = 103;  // one of old's
  const PublishedEntry own = with_logs(published("acme", "own", 1, 60.0), 400);
  const PublishedComparison partly =
      compare_published({"X1", {old, own}}, {"X2", {mixed, b.entries[0]}});
  CHECK(partly.warnings.size() == 2);
  CHECK(partly.comparison.metrics.at(0).a.n == 10);
  CHECK(partly.unequal.empty());
}

TEST_CASE("pooling the results of several accelerators is said") {
  PublishedEntry other = published("corp", "other", 1, 50.0);
  other.description.accelerator = "GPU X9";
  const PublishedSide a{"8 of any", {published("acme", "old", 1, 60.0), other}};
  const PublishedSide b{"X2", {published("acme", "new", 1, 40.0)}};
  const PublishedComparison found = compare_published(a, b);
  REQUIRE(found.warnings.size() == 1);
  CHECK_THAT(found.warnings[0],
             Contains("'8 of any' pools 2 models") && Contains("(GPU X1, GPU X9)"));
}

TEST_CASE("a side without a score and an unknown benchmark are rejected by name") {
  PublishedEntry unscored = published("acme", "old", 1, 60.0);
  unscored.score_minutes = kNoValue;
  CHECK_THROWS_WITH(compare_published({"old", {unscored}}, {"new", {}}), Contains("'old'"));
  CHECK_THROWS_WITH(chosen_entries({unscored}, {.benchmarks = {"llama31_8"}}),
                    Contains("Did you mean 'llama31_8b'?"));
  CHECK(chosen_entries({unscored}, {.words = "ACME gpu-x1"}).size() == 1);
  CHECK(chosen_entries({unscored}, {.words = "acme x2"}).empty());
}

}  // namespace bench::mlperf
