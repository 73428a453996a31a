// Evidence besides metrics: CPU time of ranks, facts of the host.
#include "results/verdicts/acceptance/acceptance.h"
#include "tests/support/catch.h"
#include "tests/support/judged_fleet.h"

using namespace bench;

TEST_CASE("a host throttled by a CPU quota fails although its clean samples are fast") {
  Fleet fleet(4);
  for (std::size_t h = 0; h < 4; ++h)
    for (int run = 0; run < 3; ++run) {
      Samples s =
          fleet.samples("gemm.throughput", 100.0 + 0.05 * run + 0.05 * static_cast<double>(h));
      if (h == 1) {
        s.quality.cpu_share = 0.5;
        s.quality.throttled_s = 0.15;
      }
      fleet.job("gemm.throughput", {fleet.host(h)}, s);
    }
  const Acceptance acceptance = fleet.judge();
  CHECK(failed(acceptance) == Hosts{"node02"});
  CHECK(only_failure(acceptance.hosts[1]).metric == "cpu_time");
  CHECK(acceptance.hosts[1].metrics.at(0).value == Approx(50.0).epsilon(0.01));
}

TEST_CASE(
    "a quota that withholds a tenth of the CPU time fails, stops of a few milliseconds do not") {
  const auto verdict = [](double throttled_s) {
    Fleet fleet(4);
    for (std::size_t h = 0; h < 4; ++h)
      for (int run = 0; run < 3; ++run) {
        Samples s = fleet.samples("gemm.throughput", 100.0 + 0.05 * static_cast<double>(h));
        s.quality.wall_s = 0.5;
        if (h == 1) {
          s.quality.cpu_share = 1.0 - throttled_s / 0.5;
          s.quality.throttled_s = throttled_s;
        }
        fleet.job("gemm.throughput", {fleet.host(h)}, s);
      }
    return fleet.judge().hosts[1].verdict;
  };
  CHECK(verdict(0.05) == Verdict::fail);
  CHECK(verdict(0.01) == Verdict::pass);
}

TEST_CASE("lost CPU time counts only where the kernel ticks can attribute it") {
  const auto verdict = [](double wall_s) {
    Fleet fleet(4);
    for (std::size_t h = 0; h < 4; ++h)
      for (int run = 0; run < 3; ++run) {
        Samples s = fleet.samples("clock.frequency", 100.0 + 0.05 * static_cast<double>(h));
        s.quality.wall_s = wall_s;
        if (h == 1) s.quality.cpu_share = 0.77;
        fleet.job("clock.frequency", {fleet.host(h)}, s);
      }
    return fleet.judge().hosts[1].verdict;
  };
  CHECK(verdict(0.05) == Verdict::pass);  // 12 ms per thread
  CHECK(verdict(0.5) == Verdict::fail);
}

TEST_CASE("a fact that lacks permissions makes its host inconclusive and is named") {
  Fleet fleet(4);
  measure(fleet, "memory_bandwidth.bandwidth", {100, 100, 100, 100});
  fleet.facts(1, "gpus",
              {{"gpus", {{{"index", 0}, {"ecc", {{"unreadable", "Insufficient Permissions"}}}}}}});
  const Acceptance acceptance = fleet.judge();
  REQUIRE(acceptance.hosts[1].verdict == Verdict::inconclusive);
  CHECK(acceptance.hosts[1].reasons.at(0).text.find("gpus[0].ecc") != std::string::npos);
  CHECK(acceptance.hosts[0].verdict == Verdict::pass);
}

TEST_CASE("uncorrected memory errors fail a host before any metric does") {
  Fleet fleet(4);
  measure(fleet, "memory_bandwidth.bandwidth", {100, 100, 100, 100});
  fleet.facts(1, "gpus",
              {{"gpus", {{{"index", 0}, {"ecc", true}, {"ecc_uncorrected_volatile", 2}}}}});
  CHECK(only_failure(fleet.judge().hosts[1]).metric == "ecc_uncorrected_volatile");
}

TEST_CASE("a host with a different kernel than its peers is reported") {
  Fleet fleet(4);
  measure(fleet, "memory_bandwidth.bandwidth", {100, 100, 100, 100});
  for (std::size_t h = 0; h < 4; ++h) fleet.facts(h, "host", {{"kernel", h == 3 ? "6.2" : "6.1"}});
  const Acceptance acceptance = fleet.judge();
  CHECK(acceptance.hosts[3].verdict == Verdict::inconclusive);
  CHECK(acceptance.hosts[3].reasons.at(0).metric == "kernel");
  CHECK(acceptance.hosts[0].verdict == Verdict::pass);
}

TEST_CASE("memory sizes within 1 percent are equal, beyond that the host is another kind") {
  const auto verdict = [](double last) {
    Fleet fleet(4);
    measure(fleet, "memory_bandwidth.bandwidth", {100, 100, 100, 100});
    for (std::size_t h = 0; h < 4; ++h)
      fleet.facts(h, "host", {{"memory_bytes", h == 3 ? last : 9.94e11}});
    return fleet.judge().hosts[3].verdict;
  };
  CHECK(verdict(9.96e11) == Verdict::pass);
  CHECK(verdict(9.80e11) == Verdict::inconclusive);
}

TEST_CASE("GPUs not measured individually block a pass and are named") {
  const auto judged = [](const std::vector<std::string>& devices) {
    Fleet fleet(4);
    Json gpus = Json::array();
    for (int i = 0; i < 4; ++i)
      gpus.push_back({{"index", i}, {"uuid", "GPU-" + std::to_string(i)}, {"ecc", true}});
    for (std::size_t h = 0; h < 4; ++h) fleet.facts(h, "gpus", {{"gpus", gpus}});
    for (const std::string& device : devices)
      for (std::size_t h = 0; h < 4; ++h) {
        fleet.facts(h, "device", {{"id", device}});
        for (const double part : {0.999, 1.0, 1.001})
          fleet.job("memory_bandwidth.bandwidth", h, 100 * part);
      }
    return fleet.judge();
  };
  CHECK(judged({"GPU-0", "GPU-1", "GPU-2", "GPU-3"}).hosts[0].verdict == Verdict::pass);
  CHECK(judged({"cpu"}).hosts[0].verdict == Verdict::pass);  // a CPU suite requires no GPU
  const Acceptance one = judged({"GPU-0"});
  REQUIRE(one.hosts[0].reasons.size() == 1);
  CHECK(one.hosts[0].verdict == Verdict::inconclusive);
  CHECK(one.hosts[0].reasons[0].gate == "coverage");
  CHECK_THAT(one.hosts[0].reasons[0].text, Catch::Contains("gpu[1-3]: not measured individually"));
}
