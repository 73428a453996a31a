#include <sys/resource.h>

#include <chrono>

#include "results/output/verdicts/acceptance_output.h"
#include "tests/support/catch.h"
#include "tests/support/fleet.h"
#include "tests/support/rendered.h"
#include "tests/support/run_tests.h"

using namespace bench;
namespace {

const std::size_t kManyHosts = code_is_sanitized() ? 400 : 4000;
const std::size_t kBadHost = kManyHosts / 3;
constexpr double kMostBytesPerHost = 70e3;

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

/// Facts of a job on a GPU node: eight GPUs and eight ports, later only the ones it used.
Json counters_of(const std::string& host, bool whole, double errors) {
  Json counters = Json::object();
  for (int i = 0; i < (whole ? 8 : 1); ++i) {
    const std::string n = std::to_string(i);
    counters["gpu" + n + ".traffic"] = {{"pcie_sent_bytes", 1e12}, {"pcie_received_bytes", 1e12}};
    counters["host.infiniband"]["mlx5_" + n + ".1.received_bytes"] = 1e12;
    if (whole) counters["gpu" + n + ".health"] = {{"pcie_replays", errors}, {"ecc_uncorrected", 0}};
    if (whole) counters["host.infiniband"]["mlx5_" + n + ".1.symbol_errors"] = 0;
  }
  return {{"hosts", {{{"host", host}, {"seconds", 1.0}, {"counters", std::move(counters)}}}}};
}

}  // namespace

TEST_CASE(
    "four thousand hosts with twenty jobs each are judged in little memory, and one is found") {
  Fleet fleet(kManyHosts);
  for (std::size_t h = 0; h < kManyHosts; ++h)
    for (int job = 0; job < 20; ++job) {
      fleet.job(
          "memory_bandwidth" + std::to_string(job % 5) + ".bandwidth", h,
          100.0 + 0.01 * static_cast<double>((7 * h + 3 * static_cast<std::size_t>(job)) % 10));
      fleet.run.records.push_back(
          {fleet.run.jobs.back().id, fleet.host(h), 0, 1,
           Facts{"counters", counters_of(fleet.host(h), job == 0, h == kBadHost ? 9000.0 : 0.0)}});
    }
  std::vector<RunRecords> runs;
  runs.push_back(std::move(fleet.run));
  const double before = peak_bytes();
  const auto begin = std::chrono::steady_clock::now();
  const Acceptance acceptance = judge_acceptance(std::move(runs), fleet.settings);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const auto output = std::chrono::steady_clock::now();
  const std::string text = to_text(acceptance, {false, false, 100});
  const std::string junit = to_junit(acceptance);
  const std::chrono::duration<double> wrote = std::chrono::steady_clock::now() - output;
  WARN(took.count() << " s to judge, " << wrote.count() << " s to write, "
                    << (peak_bytes() - before) / 1e6 << " MB");
  for (std::size_t h = 0; h < kManyHosts; ++h)
    if ((acceptance.hosts[h].verdict == Verdict::fail) != (h == kBadHost)) FAIL(fleet.host(h));
  if (!code_is_sanitized())
    CHECK(peak_bytes() - before < kMostBytesPerHost * static_cast<double>(kManyHosts));
}
