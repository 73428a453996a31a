#include "devices/host/host_device.h"
#include "tests/probes/fake_memory.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"

namespace bench {
namespace {

struct LatencyRun : ProbeJob {
  FakeMemory memory{device};

  explicit LatencyRun(const std::string& text)
      : ProbeJob("memory_latency", parse_json(text, "test")) {
    job.seed = 17;
    device.fake_memory = &memory;
  }
};

}  // namespace

TEST_CASE("latency is seconds per load for each size and kind of page") {
  LatencyRun run(R"({"sizes": [0, 4096]})");
  CHECK(run.run().status == Status::ok);
  const auto series = run.sink.samples();
  REQUIRE(series.size() == 4);
  for (const Samples& samples : series) {
    CHECK(samples.unit == Unit::second);
    CHECK(samples.better == Better::lower);
    CHECK(samples.values.size() >= 20);
    CHECK(samples.values.front() == Approx(1e-7));
  }
  CHECK(series[0].params.at("level") == "memory");
  CHECK(series[1].params.at("level") == "L1");
  CHECK(run.memory.chain_requests.at(0).seed == 17);
}

TEST_CASE("chains are powers of two; the headline is rounded up, other sizes down") {
  LatencyRun run(R"({"sizes": [0, 5000000], "pages": ["small"]})");
  run.memory.fake_caches.back().bytes = 100.0 * 1048576;  // four times that is 400 MiB
  run.run();
  const auto series = run.sink.samples();
  REQUIRE(series.size() == 2);
  CHECK(series[0].params.at("size_bytes") == 536870912);
  CHECK(series[1].params.at("size_bytes") == 4194304);
}

TEST_CASE("a pointer chain with a wrong end makes the latency invalid") {
  LatencyRun run("{}");
  run.memory.error = 3.0;
  CHECK(run.run().status == Status::invalid);
}

TEST_CASE("what cannot be measured is skipped with a reason and the rest is measured") {
  LatencyRun run(R"({"sizes": [0, 1024, 1099511627776]})");
  run.memory.huge_reason = "they are off";
  CHECK(run.run().status == Status::ok);
  int ok = 0, skipped = 0;
  for (const Samples& samples : run.sink.samples()) {
    (samples.outcome == Status::ok ? ok : skipped)++;
    CHECK((samples.outcome == Status::ok) == samples.reason.empty());
  }
  CHECK(ok == 1);
  CHECK(skipped == 3);
}

TEST_CASE("pairs of nodes are measured at the headline size, and skipped with a single node") {
  LatencyRun run(R"({"numa": "pairs", "pages": ["small"]})");
  SECTION("one node") { CHECK(run.run().status == Status::skipped); }
  SECTION("two nodes") {
    run.memory.fake_nodes = {{0, {0, 1}, true}, {1, {2, 3}, true}};
    CHECK(run.run().status == Status::ok);
    CHECK(run.sink.samples().size() == 4);
  }
}

TEST_CASE("a device without pointer chasing is skipped for latency") {
  LatencyRun run("{}");
  run.device.fake_memory = nullptr;
  CHECK(run.run().status == Status::skipped);
}

TEST_CASE("the real memory of this machine gives a verified latency of a small chain") {
  ProbeJob job("memory_latency", {{"sizes", {16384}}, {"max_bytes", 16777216}});
  job.job.measure.max_time_s = 0.01;
  job.job.measure.warm_up_max_s = 0.01;
  CHECK(job.run_on(*make_host_device(), *job.group).status == Status::ok);
  for (const Samples& samples : job.sink.samples())
    if (samples.outcome != Status::skipped) {
      REQUIRE(samples.check);
      CHECK(samples.check->passed());
    }
}

}  // namespace bench
