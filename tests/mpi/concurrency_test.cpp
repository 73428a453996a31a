// Runs under mpirun with 2 or 3 ranks on the host's memory and products.
#include "core/schema.h"
#include "probes/probe.h"
#include "tests/mpi/mpi_test.h"
#include "tests/support/catch.h"
#include "tests/support/fake_device.h"

namespace bench {
namespace {

constexpr const char* kSmall = R"({"loads": ["gemm", "memory", "copy"], "dtype": "f32",
  "shape": [64, 64, 64], "size_bytes": 4194304, "threads": 1})";

TEST_CASE("each rank is measured alone and all together; what no rank can have is skipped") {
  Group& group = mpi_test_group();
  Job job;
  job.ranks = group.size();
  job.params =
      Schema::load("schemas/probes/concurrency.json").check(parse_json(kSmall, "test"), "test");
  job.measure.max_time_s = 0.02;
  job.measure.min_time_s = 0.0;
  job.measure.warm_up_max_s = 0.01;
  const auto device = make_host_device();
  CollectedRecords sink;
  const Probe& probe = find_probe("concurrency");
  State state(job, probe, *device, group, sink);
  probe.run(state);
  CHECK(state.finish().status == Status::ok);
  if (group.rank() != 0) return;
  int alone = 0, together = 0, kept = 0;
  for (const Samples& samples : sink.samples()) {
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
