#include <chrono>
#include <cmath>
#include <thread>

#include "devices/nvml/gpu_host.h"
#include "probes/server/job_telemetry.h"
#include "tests/support/catch.h"
#include "tests/support/fake_nvml.h"

namespace bench {
namespace {

CounterSource& named(CounterSources& sources, const std::string& name) {
  for (const auto& source : sources)
    if (source->name() == name) return *source;
  throw std::runtime_error("there is no source " + name);
}

std::vector<double> read_now(CounterSource& source) {
  std::vector<double> values(source.columns().size(), -1.0);
  source.read(values);
  return values;
}

double value(CounterSource& source, const std::string& column) {
  const auto columns = source.columns();
  const std::vector<double> values = read_now(source);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == column) return values[i];
  throw std::runtime_error("there is no column " + column);
}

TEST_CASE("a GPU has five sources, and none of them is asked too often") {
  const FakeNvml nvml("healthy");
  CounterSources sources = gpu_counters(nvml.library());
  REQUIRE(sources.size() == 5);
  CHECK(named(sources, "gpu0.fast").least_period() == Seconds{0.1});
  CHECK(named(sources, "gpu0.activity").least_period() > Seconds{0.1});
  CHECK(named(sources, "gpu0.slow").least_period() == Seconds{1.0});
  CHECK(named(sources, "gpu0.health").least_period() == Seconds{10.0});
  CHECK(named(sources, "gpu0.traffic").least_period() == Seconds{10.0});
}

TEST_CASE("what a GPU does is read in base units") {
  const FakeNvml nvml("throttling");
  CounterSources sources = gpu_counters(nvml.library());
  CounterSource& fast = named(sources, "gpu0.fast");
  CHECK(value(fast, "power_w") == Approx(700.5));
  CHECK(value(fast, "sm_clock_hz") == Approx(1.095e9));
  CHECK(value(fast, "event_reasons") == 0x64);
  CHECK(fast.columns().at(2).bits.at(2) == "sw_power_cap");  // so that a summary can name it
  CounterSource& slow = named(sources, "gpu0.slow");
  CHECK(value(slow, "throttled_power_s") == Approx(9.0));
  CHECK(value(slow, "nvlink_sent_bytes") == 1024000.0);
  CHECK(value(slow, "memory_used_bytes") == 899345920.0);
  CHECK(value(slow, "temperature_c") == 91.0);
  CHECK(value(slow, "kernel_running") == Approx(0.75));
  CHECK(std::isnan(value(slow, "throttled_power_brake_s")));
  const double energy = value(slow, "energy_j");
  CHECK(value(slow, "energy_j") == Approx(energy + 1.0));
}

TEST_CASE("error counters of a worn GPU are read with the bytes transferred") {
  const FakeNvml nvml("remapped_rows_narrow_pcie");
  CounterSources sources = gpu_counters(nvml.library());
  CounterSource& health = named(sources, "gpu0.health");
  CHECK(value(health, "pcie_replays") == 41.0);
  CHECK(value(health, "remapped_rows_uncorrected") == 7.0);
  CHECK(value(health, "remapped_rows_pending") == 1.0);
  CHECK(value(health, "remapped_rows_failed") == 0.0);
  CounterSource& traffic = named(sources, "gpu0.traffic");
  CHECK(value(traffic, "pcie_sent_bytes") == 197e9);
  CHECK(value(traffic, "pcie_received_bytes") == 198e9);
  CHECK(value(traffic, "nvlink_sent_bytes") == 1024000.0);
}

TEST_CASE("the activity of a GPU is that between two readings that lie far enough apart") {
  const FakeNvml nvml("healthy");
  CounterSources sources = gpu_counters(nvml.library());
  CounterSource& activity = named(sources, "gpu0.activity");
  CHECK(std::isnan(read_now(activity)[0]));
  CHECK(std::isnan(read_now(activity)[0]));  // too early
  std::this_thread::sleep_for(std::chrono::milliseconds(120));
  const auto values = read_now(activity);
  CHECK(values[0] == Approx(0.80));
  CHECK(std::isnan(values[1]));  // this metric alone is refused
  CHECK(values[2] == Approx(0.55));
  CHECK(values[3] == Approx(0.30));
  CHECK(values[4] == Approx(2.0 * 1048576.0));
}

TEST_CASE("a GPU that refuses every question reads as unknown, never as zero") {
  const FakeNvml nvml("errors");
  CounterSources sources = gpu_counters(nvml.library());
  REQUIRE(sources.size() == 4);  // whether it has GPM is refused as well
  for (const auto& source : sources)
    for (const double one : read_now(*source)) CHECK(std::isnan(one));
}

TEST_CASE("without a driver there are no counters") {
  CHECK(gpu_counters("libthere-is-no-such-nvml.so.1").empty());
  const FakeNvml nvml("no_driver");
  CHECK(gpu_counters(nvml.library()).empty());
}

TEST_CASE("a driver that stops answering while a job runs costs its telemetry, not the job") {
  const FakeNvml nvml("hangs_later");
  RecorderSettings settings;
  settings.period = Seconds{0.01};
  const auto begin = std::chrono::steady_clock::now();
  SamplerThread sampler([&nvml] { return gpu_counters(nvml.library()); }, settings);
  // Two readings are answered: the first, and the one at 0.1 s. The third hangs at stop, at the
  // latest.
  std::this_thread::sleep_for(std::chrono::milliseconds(120));
  const Telemetry telemetry = sampler.stop(Seconds{0.05});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(telemetry.problem.find("did not return") != std::string::npos);
  CHECK(telemetry.recordings.empty());
  CHECK(took.count() < 5.0);
}

}  // namespace
}  // namespace bench
