// Runs under mpirun with 2 or 3 ranks: each has a product of its own, and all are kept.
#include "probes/shared/gemm_search.h"
#include "tests/mpi/mpi_test.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

TEST_CASE("every rank's bits are reported, and equal processors have equal ones") {
  Group& group = mpi_test_group();
  const MpiRun run = run_briefly(
      group, "gemm",
      parse_json(R"({"dtypes": ["f32"], "shapes": [[64, 64, 64]], "threads": [1]})", "test"));
  CHECK(run.outcome.status == Status::ok);
  if (group.rank() != 0) return;
  REQUIRE(run.facts.size() == static_cast<std::size_t>(group.size()));
  for (int rank = 0; rank < group.size(); ++rank) {
    const Facts& facts = run.facts.at(static_cast<std::size_t>(rank));
    CHECK(facts.topic == kResultHashTopic);
    CHECK(facts.facts["rank"] == rank);
    CHECK(facts.facts["hash"] == run.facts.front().facts["hash"]);
  }
}

}  // namespace
}  // namespace bench
