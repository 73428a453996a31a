// Runs under mpirun with 2 or 3 ranks on the host's memory and products.
#include "tests/mpi/mpi_test.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

constexpr const char* kSmall = R"({"loads": ["gemm", "memory", "copy"], "dtype": "f32",
  "shape": [64, 64, 64], "size_bytes": 4194304, "threads": 1})";

TEST_CASE("each rank is measured alone and all together; what no rank can have is skipped") {
  Group& group = mpi_test_group();
  const MpiRun run = run_briefly(group, "concurrency", parse_json(kSmall, "test"));
  CHECK(run.outcome.status == Status::ok);
  if (group.rank() != 0) return;
  int alone = 0, together = 0, kept = 0;
  for (const Samples& samples : run.samples) {
    if (samples.metric == "copy_rate") CHECK(samples.outcome == Status::skipped);
    if (samples.metric == "kept") {
      ++kept;
      CHECK(samples.values.at(0) > 0.0);
    } else if (samples.params.contains("active")) {
      CHECK(samples.check->passed());
      ++(samples.params.at("active") == "all" ? together : alone);
    }
  }
  CHECK(alone == 2 * group.size());
  CHECK(together == 2);
  CHECK(kept == 2);
}

}  // namespace
}  // namespace bench
