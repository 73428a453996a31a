#include <set>

#include "devices/host/host_device.h"
#include "tests/probes/fake_memory.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"

namespace bench {
namespace {

struct BandwidthRun : ProbeJob {
  FakeMemory memory{device};

  explicit BandwidthRun(const std::string& text)
      : ProbeJob("memory_bandwidth", parse_json(text, "test")) {
    device.fake_memory = &memory;
  }
};

}  // namespace

TEST_CASE(
    "every kernel, kind of store, kind of page and thread count is one series of two metrics") {
  BandwidthRun run("{}");
  CHECK(run.run().status == Status::ok);
  const auto bandwidth = run.of("bandwidth");
  CHECK(bandwidth.size() == 7 * 2 * 2);
  CHECK(run.of("traffic").size() == bandwidth.size());
  std::set<std::string> different;
  for (const Samples& samples : bandwidth) {
    different.insert(dump(samples.params));
    CHECK(samples.unit == Unit::byte_per_second);
    CHECK(samples.values.size() >= 20);
    CHECK(samples.values.front() == Approx(1e9));
    CHECK(samples.params.at("level") == "memory");
    CHECK(samples.params.at("size_bytes") == 268435456);
  }
  CHECK(different.size() == bandwidth.size());
}

TEST_CASE("traffic counts the line that a plain store reads, bandwidth does not") {
  BandwidthRun run(R"({"kernels": ["triad"], "pages": ["small"], "threads": [1]})");
  run.run();
  for (const Samples& samples : run.of("traffic"))
    CHECK(samples.values.front() ==
          Approx(samples.params.at("stores") == "plain" ? 4.0 / 3.0 * 1e9 : 1e9));
}

TEST_CASE("a wrong result makes the bandwidth invalid") {
  BandwidthRun run(R"({"kernels": ["copy"]})");
  run.memory.error = 1.0;
  CHECK(run.run().status == Status::invalid);
  for (const Samples& samples : run.of("bandwidth")) CHECK(samples.outcome == Status::invalid);
}

TEST_CASE("bandwidth of threads that shared a core is not clean") {
  for (const double core : {0.5, 0.95}) {
    BandwidthRun run(R"({"kernels": ["triad"], "pages": ["small"]})");
    run.memory.core = core;
    run.run();
    REQUIRE_FALSE(run.of("bandwidth").empty());
    for (const Samples& samples : run.of("bandwidth"))
      for (const unsigned flags : samples.flags)
        CHECK(((flags & kCoreShared) != 0) == (core < 0.62));
  }
}

TEST_CASE("a device without memory streams is skipped") {
  BandwidthRun run("{}");
  run.device.fake_memory = nullptr;
  CHECK(run.run().status == Status::skipped);
}

TEST_CASE("unavailable huge pages are skipped with the reason, small ones are measured") {
  BandwidthRun run(R"({"kernels": ["read"], "threads": [1]})");
  SECTION("switched off") { run.memory.huge_reason = "they are off"; }
  SECTION("fragmented memory") { run.memory.share = 0.5; }
  CHECK(run.run().status == Status::ok);
  const auto series = run.of("bandwidth");
  REQUIRE(series.size() == 2);
  CHECK(series[0].outcome == Status::ok);
  CHECK(series[0].params.at("pages") == "small");
  CHECK(series[1].outcome == Status::skipped);
  CHECK_THAT(series[1].reason, Catch::Contains("off") || Catch::Contains("50"));
}

TEST_CASE("a curve goes from 4 KiB through the caches, largest first, and names the levels") {
  BandwidthRun run(R"({"kernels": ["read"], "pages": ["small"], "threads": [1], "curve": true})");
  run.run();
  const auto series = run.of("bandwidth");
  CHECK(series.size() == 17);
  CHECK(series.front().params.at("size_bytes") == 268435456);
  CHECK(series.back().params.at("size_bytes") == 4096);
  const auto level = [&](std::int64_t bytes) {
    for (const Samples& samples : series)
      if (samples.params.at("size_bytes") == bytes)
        return samples.params.at("level").get<std::string>();
    return std::string("none");
  };
  CHECK(level(32768) == "L1");
  CHECK(level(65536) == "L2");
  CHECK(level(33554432) == "L3");
  CHECK(level(67108864) == "L3/memory");
  CHECK(level(134217728) == "memory");
}

TEST_CASE("a machine with too little memory reports that instead of calling a cache memory") {
  BandwidthRun run(R"({"kernels": ["read"], "pages": ["small"], "threads": [1]})");
  run.memory.fake_caches.back().bytes = 480.0 * 1048576;
  run.memory.available = 2.0 * 1073741824;
  run.run();
  const auto series = run.of("bandwidth");
  REQUIRE(series.size() == 2);
  CHECK(series[0].outcome == Status::skipped);
  CHECK(series[0].params.at("level") == "memory");
  CHECK_THAT(series[0].reason, Catch::Contains("480 MiB"));
  CHECK(series[1].params.at("level") == "L3/memory");
  CHECK(series[1].params.at("size_bytes") == 1073741824);
}

TEST_CASE("sizes over the budget and below 4 KiB per thread are skipped, others measured") {
  BandwidthRun run(
      R"({"kernels": ["read"], "pages": ["small"], "threads": [4], "sizes": [4096, 1048576, 2147483648], "max_bytes": 1073741824})");
  run.run();
  const auto series = run.of("bandwidth");
  REQUIRE(series.size() == 3);
  CHECK(series[0].outcome == Status::skipped);
  CHECK(series[1].outcome == Status::ok);
  CHECK(series[2].outcome == Status::skipped);
  CHECK(run.memory.array_requests.at(0).bytes == 1073741824);
}

TEST_CASE("0 threads mean all cores, a sweep doubles up to them, too many are skipped") {
  BandwidthRun run(
      R"({"kernels": ["read"], "pages": ["small"], "threads": [0, 3, 9], "thread_sweep": true})");
  run.run();
  std::set<int> measured, skipped;
  for (const Samples& samples : run.of("bandwidth"))
    (samples.outcome == Status::ok ? measured : skipped)
        .insert(samples.params.at("threads").get<int>());
  CHECK(measured == std::set<int>{1, 2, 3, 4});
  CHECK(skipped == std::set<int>{9});
}

TEST_CASE("pairs of nodes are measured with the cores of one and the memory of the other") {
  BandwidthRun run(R"({"kernels": ["read"], "pages": ["small"], "numa": "pairs"})");
  SECTION("one node: skipped") {
    CHECK(run.run().status == Status::skipped);
    CHECK_THAT(run.of("bandwidth").at(0).reason, Catch::Contains("one NUMA node"));
  }
  SECTION("two nodes and one with memory only") {
    run.memory.fake_nodes = {{0, {0, 1}, true}, {1, {2}, true}, {2, {}, true}};
    CHECK(run.run().status == Status::ok);
    CHECK(run.of("bandwidth").size() == 6);
    const Samples last = run.of("bandwidth").back();
    CHECK(last.params.at("cpu_node") == 1);
    CHECK(last.params.at("memory_node") == 2);
    CHECK(last.params.at("threads") == 1);
  }
}

TEST_CASE("a processor without non-temporal stores has those series skipped") {
  BandwidthRun run(R"({"kernels": ["write"], "pages": ["small"], "threads": [1]})");
  run.memory.nontemporal_reason = "none known";
  run.run();
  const auto series = run.of("bandwidth");
  REQUIRE(series.size() == 2);
  CHECK(series[0].outcome == Status::ok);
  CHECK(series[1].outcome == Status::skipped);
}

TEST_CASE("the real memory of this machine gives verified bandwidths of small working sets") {
  ProbeJob job("memory_bandwidth", {{"sizes", {65536}}, {"max_bytes", 16777216}});
  job.job.measure.max_time_s = 0.01;
  job.job.measure.warm_up_max_s = 0.01;
  CHECK(job.run_on(*make_host_device(), *job.group).status == Status::ok);
  for (const Samples& samples : job.sink.samples())
    if (samples.outcome != Status::skipped && samples.metric == "bandwidth") {
      REQUIRE(samples.check);
      CHECK(samples.check->passed());
      CHECK(samples.values.front() > 1e6);
    }
}

}  // namespace bench
