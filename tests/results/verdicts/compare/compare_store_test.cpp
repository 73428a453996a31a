// Comparisons of runs that lie in a database.

#include "core/error.h"
#include "results/verdicts/compare/compare.h"
#include "results/verdicts/compare/selector.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Contains;

namespace {

/// Runs run-0, run-1, ... of one gemm series, one a day, on a host with this GPU.
struct KeptRuns {
  TemporaryDirectory folder;
  Store store = Store::open(folder.path() / "results.sqlite", Access::write);
  std::vector<std::string> ids;

  void add(double rate, const std::string& gpu = "NVIDIA H100 80GB HBM3") {
    const auto number = static_cast<std::int64_t>(ids.size());
    ids.push_back("run-" + std::to_string(number));
    RunFixture run(ids.back());
    run.plan["time_ns"] = start_ns() + number * 86'400'000'000'000;
    run.plan["labels"] = {{"step", std::to_string(number)}};
    run.job("a", "gemm", "gemm");
    run.plan["jobs"][0]["device"] = "cuda";
    run.add("",
            Facts{"gpus",
                  {{"driver", "550"}, {"gpus", {{{"index", 0}, {"name", gpu}, {"uuid", gpu}}}}}});
    run.add("a", samples("throughput", rate, 20, {{"m", 512}}, 0.001)).outcome("a").end();
    store.import_run(run.write(folder.path() / "runs"));
  }

  Side side(const std::string& text) const {
    return read_side(Histories(store), parse_selector(text, ids), {});
  }
};

}  // namespace

TEST_CASE("two single runs are judged by the variation of other runs") {
  KeptRuns steady, restless;
  for (const double step : {0.0, 0.001, -0.001, 0.0015, 0.0, -0.0005, 0.001}) {
    steady.add(1e12 * (1.0 + step));
    restless.add(1e12 * (1.0 + 30.0 * step));
  }
  for (KeptRuns* runs : {&steady, &restless}) runs->add(0.97e12);
  const auto verdict = [](const KeptRuns& runs) {
    const Side a = runs.side("latest~1"), b = runs.side("latest");
    REQUIRE(needs_run_noise(a, b));
    const auto noise = run_noise(Histories(runs.store), a, b);
    REQUIRE(noise.size() == 1);
    CHECK(noise.begin()->second.degrees == 5.0);  // six other runs
    return compare(a, b, {.noise = noise}).metrics.at(0).verdict;
  };
  CHECK(verdict(steady) == ChangeVerdict::regressed);
  CHECK(verdict(restless) == ChangeVerdict::inconclusive);
}

TEST_CASE("sides are selected by label, time and hardware; an empty selection is an error") {
  KeptRuns runs;
  for (int i = 0; i < 4; ++i) runs.add(1e12);
  for (int i = 0; i < 4; ++i) runs.add(1.2e12, "NVIDIA H200");
  CHECK(runs.side("label:step=3").runs == 1);
  CHECK(runs.side("time:2026-11-20..2026-11-22").runs == 2);
  CHECK(runs.side("hardware:h100-hbm3").runs == 4);
  CHECK_THROWS_WITH(runs.side("hardware:b200"), Contains("selects no usable values"));
  CHECK_THROWS_AS(runs.side("host:node7"), Error);
  const Comparison found = compare(runs.side("hardware:h100"), runs.side("hardware:h200"));
  CHECK(found.hardware_a == "NVIDIA H100 80GB HBM3");
  CHECK(found.hardware_b == "NVIDIA H200");
  REQUIRE(found.metrics.size() == 1);
  CHECK(found.metrics[0].basis == Basis::runs);
  CHECK(found.metrics[0].verdict == ChangeVerdict::improved);
  CHECK(found.metrics[0].per_gpu == Approx(1.2));
}
