#include "results/output/verdicts/acceptance_output.h"
#include "tests/support/catch.h"
#include "tests/support/fleet.h"

using namespace bench;
namespace {

constexpr double kSeconds = 60.0;

/// Four hosts with good metrics, and their counters.
struct Counted : Fleet {
  Counted() : Fleet(4) {
    for (std::size_t h = 0; h < 4; ++h)
      for (const double part : {0.999, 1.0, 1.001})
        job("memory_bandwidth.bandwidth", h, 100 * part);
  }
  /// Counters of one host in one job.
  Counted& counted(std::size_t h, Json counters, Json gauges = Json::object(),
                   Json broken = Json::object()) {
    facts(0, "counters",
          {{"hosts",
            {{{"host", host(h)},
              {"seconds", kSeconds},
              {"counters", std::move(counters)},
              {"gauges", std::move(gauges)},
              {"broken", std::move(broken)}}}}});
    run.records.back().job = "job" + std::to_string(3 * h);
    return *this;
  }
  Counted& gpu(std::size_t h, const std::string& counter, double count, double bytes) {
    return counted(h, {{"gpu0.health", {{counter, count}}},
                       {"gpu0.traffic", {{"pcie_sent_bytes", bytes}, {"pcie_received_bytes", 0}}}});
  }
};

const HostCounter& counter_of(const HostAcceptance& host, std::string_view name) {
  for (const HostCounter& counter : host.counters)
    if (counter.rule->counter == name) return counter;
  throw std::runtime_error("no counter " + std::string(name));
}

const Reason& reason_of(const HostAcceptance& host) {
  REQUIRE(host.reasons.size() == 1);
  REQUIRE(host.reasons[0].gate == "counters");
  return host.reasons[0];
}

}  // namespace

TEST_CASE("one hard error fails only its host, naming counter and device") {
  const std::vector<std::pair<const char*, const char*>> hard = {
      {"gpu3.health", "ecc_uncorrected"},          {"gpu3.health", "remapped_rows_uncorrected"},
      {"host.infiniband", "mlx5_0.1.link_downed"}, {"host.memory_errors", "mc0.uncorrected"},
      {"host.pcie", "0000:3b:00.0.fatal"},         {"host.cpu_errors", "cpu.machine_checks"}};
  for (const auto& [source, column] : hard) {
    INFO(source << " " << column);
    Counted fleet;
    for (std::size_t h = 0; h < 4; ++h) fleet.counted(h, {{source, {{column, h == 2 ? 1 : 0}}}});
    const Acceptance acceptance = fleet.judge();
    CHECK(acceptance.hosts[2].verdict == Verdict::fail);
    const Reason& reason = reason_of(acceptance.hosts[2]);
    CHECK(reason.value == 1.0);
    CHECK(reason.expected == 0.0);
    CHECK(std::string(column).find(reason.metric.substr(9)) != std::string::npos);
    CHECK_FALSE(reason.params.at("device").get<std::string>().empty());
    CHECK_FALSE(reason.next_step.empty());
    CHECK(acceptance.hosts[1].verdict == Verdict::pass);
  }
}

TEST_CASE("a failed row remap fails its host, a pending one is inconclusive") {
  Counted fleet;
  fleet.counted(1, Json::object(), {{"gpu0.health", {{"remapped_rows_failed", 1}}}});
  fleet.counted(2, Json::object(), {{"gpu0.health", {{"remapped_rows_pending", 1}}}});
  const Acceptance acceptance = fleet.judge();
  CHECK(acceptance.hosts[1].verdict == Verdict::fail);
  CHECK(acceptance.hosts[2].verdict == Verdict::inconclusive);
  CHECK(reason_of(acceptance.hosts[2]).next_step.find("reset") != std::string::npos);
}

TEST_CASE("a single error on little traffic is inconclusive until more traffic") {
  Counted fleet;
  fleet.gpu(1, "pcie_replays", 1, 1e9);  // 0.01 expected
  Counted fewer;
  fewer.gpu(1, "pcie_replays", 1, 1e3);
  CHECK(fewer.judge().hosts[1].verdict == Verdict::inconclusive);
  const Acceptance acceptance = fleet.judge();
  REQUIRE(acceptance.hosts[1].verdict == Verdict::inconclusive);
  const Reason& reason = reason_of(acceptance.hosts[1]);
  CHECK(reason.expected == Approx(0.01));
  CHECK(reason.more_runs);
  CHECK(reason.next_step.find("without another error") != std::string::npos);
  CHECK(open_cases(acceptance.hosts[1]) == std::vector<std::string>{"memory_bandwidth"});
}

TEST_CASE("errors within the standard pass on enough traffic, with an upper bound") {
  Counted fleet;
  fleet.gpu(1, "pcie_replays", 4, 1e12);  // ten expected at 1e-12 of 1e13 bits
  fleet.gpu(2, "pcie_replays", 0, 1e12);
  const Acceptance acceptance = fleet.judge();
  CHECK(acceptance.verdict == Verdict::pass);
  CHECK(counter_of(acceptance.hosts[1], "pcie_replays").verdict == Verdict::pass);
  const HostCounter& none = counter_of(acceptance.hosts[2], "pcie_replays");
  CHECK(none.upper == Approx(2.9957 / 1e13).epsilon(1e-4));
  CHECK(none.bits == Approx(1e13));
}

TEST_CASE("far more errors than the standard allows fail the host") {
  Counted fleet;
  for (std::size_t h = 0; h < 4; ++h) fleet.gpu(h, "pcie_replays", h == 3 ? 60 : 0, 1e12);
  const Acceptance acceptance = fleet.judge();
  REQUIRE(acceptance.hosts[3].verdict == Verdict::fail);
  const Reason& reason = reason_of(acceptance.hosts[3]);
  CHECK(reason.value == 60.0);
  CHECK(reason.expected == Approx(10.0));
  CHECK(reason.text.find("PCI Express") != std::string::npos);
  CHECK(reason.text.find("931.3 GiB") != std::string::npos);
  CHECK(acceptance.hosts[0].verdict == Verdict::pass);
}

TEST_CASE(
    "no error on few bytes is shown and says nothing, nor do errors where nothing is known to "
    "move") {
  Counted fleet;
  fleet.gpu(1, "pcie_replays", 0, 1e6);
  fleet.counted(2, {{"gpu0.health", {{"pcie_replays", 5}}}});
  const Acceptance acceptance = fleet.judge();
  CHECK(acceptance.verdict == Verdict::pass);
  CHECK_FALSE(counter_of(acceptance.hosts[1], "pcie_replays").verdict);
  CHECK_FALSE(counter_of(acceptance.hosts[2], "pcie_replays").verdict);
  CHECK(counter_of(acceptance.hosts[2], "pcie_replays").count == 5.0);
}

TEST_CASE("without a byte counter, the bytes copied by jobs count as traffic") {
  const auto judged = [](double replays) {
    Counted fleet;
    fleet.facts(1, "device", {{"id", "GPU-a"}});
    fleet.facts(1, "gpus", {{"gpus", {{{"index", 2}, {"uuid", "GPU-a"}, {"ecc", true}}}}});
    Samples copies = fleet.samples("copy.bandwidth", 5e10);  // seven samples
    copies.params = {{"route", "both"}, {"size_bytes", 1e9}};
    copies.repeats = 100;
    fleet.job("copy.bandwidth", {fleet.host(1)}, copies, Outcome{Status::ok, "", 60.0});
    fleet.counted(1, {{"gpu2.health", {{"pcie_replays", replays}}}});
    return fleet.judge();
  };
  const Acceptance none = judged(0);
  const HostCounter& counter = counter_of(none.hosts[1], "pcie_replays");
  CHECK(counter.bytes == Approx(7 * 100 * 2e9));
  CHECK(counter.bits == Approx(1.4e13));
  CHECK(counter.most_bits == Approx(60 * 5.0015e10 * 10).epsilon(1e-3));
  CHECK(counter.verdict == Verdict::pass);
  const Acceptance bad = judged(200);  // at most 30 expected
  CHECK(bad.hosts[1].verdict == Verdict::fail);
  const auto reason = std::ranges::find(bad.hosts[1].reasons, "counters", &Reason::gate);
  REQUIRE(reason != bad.hosts[1].reasons.end());
  CHECK(reason->text.find("copied by its jobs") != std::string::npos);
}

TEST_CASE("symbol errors are judged by link rate and time, as idle links carry symbols") {
  // 400 Gb/s for a minute are 2.4e13 bits, which allow 24 symbol errors regardless of traffic.
  const auto verdict = [](double errors) {
    Counted fleet;
    fleet.counted(1,
                  {{"host.infiniband",
                    {{"mlx5_0.1.symbol_errors", errors}, {"mlx5_0.1.received_bytes", 1000}}}},
                  {{"host.infiniband", {{"mlx5_0.1.link_rate", 50e9}}}});
    const Acceptance acceptance = fleet.judge();
    CHECK(counter_of(acceptance.hosts[1], "symbol_errors").bits == Approx(2.4e13));
    return acceptance.hosts[1].verdict;
  };
  CHECK(verdict(12) == Verdict::pass);
  CHECK(verdict(100) == Verdict::fail);
}

TEST_CASE("damaged frames of a NIC are judged by the bytes of its interface") {
  const auto verdict = [](double errors) {
    Counted fleet;
    fleet.counted(1, {{"host.ethernet", {{"eth0.crc_errors", errors}, {"eth0.pauses_sent", 1e6}}},
                      {"host.network", {{"eth0.received_bytes", 1e12}, {"eth0.sent_bytes", 1.0}}}});
    const Acceptance acceptance = fleet.judge();
    CHECK(counter_of(acceptance.hosts[1], "crc_errors").bits == Approx(8e12));
    CHECK(counter_of(acceptance.hosts[1], "pauses_sent").bytes == Approx(1e12));
    return acceptance.hosts[1].verdict;
  };
  CHECK(verdict(1) == Verdict::pass);
  CHECK(verdict(80) == Verdict::fail);
}

TEST_CASE("errors and bytes add up over jobs") {
  Counted fleet;
  for (int job = 0; job < 10; ++job) fleet.gpu(1, "pcie_replays", 1, 1e9);
  const Acceptance acceptance = fleet.judge();
  CHECK(acceptance.hosts[1].verdict == Verdict::fail);
  CHECK(reason_of(acceptance.hosts[1]).value == 10.0);
  CHECK(counter_of(acceptance.hosts[1], "pcie_replays").bytes == Approx(1e10));
}

TEST_CASE("congestion, drops and corrected memory errors are shown but not judged") {
  Counted fleet;
  fleet.counted(1, {{"host.infiniband",
                     {{"mlx5_0.1.congestion_handled", 1e6},
                      {"mlx5_0.1.send_discards", 4},
                      {"mlx5_0.1.sent_bytes", 1e12}}},
                    {"host.network", {{"eth0.received_drops", 70}}},
                    {"gpu0.health", {{"ecc_corrected", 3}}}});
  const Acceptance acceptance = fleet.judge();
  CHECK(acceptance.verdict == Verdict::pass);
  CHECK(counter_of(acceptance.hosts[1], "congestion_handled").bytes == 1e12);
}

TEST_CASE("a counter that was reset or vanished is reported, and unknown is not zero") {
  Counted fleet;
  fleet.counted(1, {{"gpu0.health", {{"ecc_uncorrected", nullptr}}}}, Json::object(),
                {{"gpu0.health", {{"ecc_uncorrected", 1}}}});
  const Acceptance acceptance = fleet.judge();
  CHECK(acceptance.hosts[1].verdict == Verdict::pass);
  CHECK_FALSE(counter_of(acceptance.hosts[1], "ecc_uncorrected").verdict);
  REQUIRE(acceptance.hosts[1].notes.size() == 1);
  CHECK(acceptance.hosts[1].notes[0].find("ecc_uncorrected of gpu0 was reset") == 0);
}

TEST_CASE("a host whose driver does not report counters is inconclusive") {
  Counted fleet;
  fleet.facts(0, "counters", {{"hosts", {{{"host", fleet.host(3)}, {"problem", "NVML hangs"}}}}});
  const Acceptance acceptance = fleet.judge();
  CHECK(acceptance.hosts[3].verdict == Verdict::inconclusive);
  CHECK(reason_of(acceptance.hosts[3]).text.find("NVML hangs") != std::string::npos);
}

TEST_CASE("rare errors on healthy links of a large fleet fail no host") {
  std::mt19937_64 random(7);
  int false_alarms = 0;
  for (int night = 0; night < 40; ++night) {
    Fleet fleet(64);
    for (std::size_t h = 0; h < 64; ++h) {
      Json counters = Json::object(), traffic = Json::object();
      for (int gpu = 0; gpu < 8; ++gpu) {
        const double bytes = std::pow(10.0, 9.0 + gpu * 0.5);
        std::poisson_distribution<int> errors(1e-12 * 10.0 * bytes);
        const std::string name = "gpu" + std::to_string(gpu);
        counters[name + ".health"] = {{"pcie_replays", errors(random)}};
        counters[name + ".traffic"] = {{"pcie_sent_bytes", bytes}};
      }
      fleet.facts(0, "counters",
                  {{"hosts", {{{"host", fleet.host(h)}, {"seconds", 1}, {"counters", counters}}}}});
    }
    for (const HostAcceptance& host : fleet.judge().hosts)
      false_alarms += host.verdict == Verdict::fail ? 1 : 0;
  }
  CHECK(false_alarms <= 3);  // 0.4 expected: one false alarm in a hundred fleets
}
