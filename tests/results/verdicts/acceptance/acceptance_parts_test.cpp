// Devices and rails in acceptance: the bad device of a host must be named.
#include "core/text.h"
#include "results/verdicts/acceptance/acceptance.h"
#include "tests/support/catch.h"
#include "tests/support/fleet.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

constexpr std::size_t kHosts = 8;

Json device(int number) { return {{"device", "cuda:" + std::to_string(number)}}; }

/// Three runs on each of two devices of each host; device 1 of the last host has this share.
Fleet two_devices(double last) {
  Fleet fleet(kHosts);
  for (int number : {0, 1})
    for (std::size_t h = 0; h < kHosts; ++h)
      for (const double run : {0.999, 1.0, 1.001}) {
        const double own = number == 1 && h + 1 == kHosts ? last : 1.0 + 0.0005 * double(h);
        fleet.job("memory_bandwidth.bandwidth", h, 1e12 * own * run);
        fleet.run.jobs.back().part = device(number);
      }
  return fleet;
}

}  // namespace

TEST_CASE("a slow device fails its host, and the reason names the device") {
  const Acceptance acceptance = two_devices(0.9).judge();
  const HostAcceptance& last = acceptance.hosts.back();
  CHECK(last.verdict == Verdict::fail);
  std::size_t failing = 0;
  for (const Reason& reason : last.reasons) {
    if (reason.verdict != Verdict::fail) continue;
    ++failing;
    CHECK(reason.params == device(1));
  }
  CHECK(failing > 0);
  CHECK(last.metrics.size() == 2);
  CHECK(acceptance.hosts.front().verdict == Verdict::pass);
}

TEST_CASE("equal devices pass") { CHECK(two_devices(1.0).judge().verdict == Verdict::pass); }

TEST_CASE("a device on which nothing runs is not excused by a working one") {
  Fleet fleet = two_devices(1.0);
  for (int run = 0; run < 3; ++run) {
    fleet.job("memory_bandwidth.bandwidth", {fleet.host(2)},
              Outcome{Status::failed, "Xid 79", 1.0});
    fleet.run.jobs.back().part = device(2);
  }
  const HostAcceptance host = fleet.judge().hosts.at(2);
  CHECK(host.verdict == Verdict::inconclusive);
  REQUIRE_FALSE(host.reasons.empty());
  CHECK_THAT(host.reasons.front().text, Contains("on device cuda:2") && Contains("Xid 79"));
}
