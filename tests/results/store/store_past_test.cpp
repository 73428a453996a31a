// What a night takes from earlier runs.
#include "results/store/store_past.h"

#include "results/store/store.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;

TEST_CASE("a job without clean samples is no check of its host, a count is") {
  const TemporaryDirectory folder;
  Store store = Store::open(folder.path() / "results.sqlite", Access::write);
  RunFixture run;
  Samples disturbed = samples("throughput", 1e9);
  disturbed.flags.assign(disturbed.values.size(), kCrowded);
  run.job("a", "quiet", "gemm").add("a", samples("throughput", 1e9)).outcome("a");
  run.job("b", "busy", "gemm").add("b", disturbed).add("b", samples("share", 0.9, 1)).outcome("b");
  run.job("c", "count", "topology").add("c", samples("cores", 8, 1)).outcome("c").end();
  store.import_run(run.write(folder.path() / "runs"));
  std::vector<std::string> cases;
  for (const CheckPast& check : past_checks(store, 0)) cases.push_back(check.case_name);
  CHECK(cases == std::vector<std::string>{"count", "quiet"});
}
