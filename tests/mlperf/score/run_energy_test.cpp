// The energy of a run by power logs, and what is wrong with them.
#include "mlperf/score/run_energy.h"

#include <fmt/format.h>

#include <cmath>

#include "core/whole_file.h"
#include "tests/mlperf/scored_entry.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

using Catch::Matchers::Contains;

std::string power_line(double time_ms, const std::string& key, const std::string& value = "null") {
  return fmt::format(
      ":::MLLOG {{\"namespace\": \"\", \"time_ms\": {:.0f}, \"event_type\": \"POINT_IN_TIME\", "
      "\"key\": \"{}\", \"value\": {}, \"metadata\": {{\"file\": \"p.py\", \"lineno\": 1}}}}\n",
      time_ms, key, value);
}
std::string watts(double value) { return fmt::format("{}", value); }

/// Power logs next to a result of ten minutes.
struct PowerLogs {
  TemporaryDirectory folder;

  void write(const std::string& name, const std::string& text) const {
    write_file(folder.path() / "power" / "result_3" / name, text);
  }
  /// 100 readings of so many watts, one a second.
  static std::string node(double power,
                          const std::string& end = power_line(1e12 + 100'000,
                                                              "power_measurement_stop")) {
    std::string text = power_line(1e12, "power_measurement_start");
    for (int i = 1; i <= 100; ++i)
      text += power_line(1e12 + i * 1000, "power_reading", watts(power));
    return text + end;
  }
  std::optional<RunEnergy> read() const { return run_energy(folder.path() / "result_3.txt", 10.0); }
  std::string problem() const {
    const auto energy = read();
    return energy && energy->problems.size() == 1 ? energy->problems.front() : "";
  }
};

}  // namespace

TEST_CASE("a run without power logs has no energy") {
  const TemporaryDirectory folder;
  CHECK_FALSE(run_energy(folder.path() / "result_0.txt", 10.0));
}

TEST_CASE("the energy of a run is mean power times its time, over nodes and switches") {
  PowerLogs logs;
  logs.write("node_0.txt", PowerLogs::node(1000));
  logs.write("node_1.txt",
             power_line(1e12 - 5, "conversion_eff", watts(0.5)) + PowerLogs::node(3000));
  logs.write("sw_0.txt", power_line(1e12, "conversion_eff", watts(0.9)) +
                             power_line(1e12, "interconnect_power_est", watts(200)));
  const auto energy = logs.read();
  REQUIRE(energy);
  CHECK(energy->joules == Approx(600.0 * (1000 + 0.5 * 3000 + 0.9 * 200)));
  CHECK(energy->nodes == 2);
  CHECK(energy->switches == 1);
  CHECK(energy->problems.empty());
}

TEST_CASE("readings count between start and stop, each back to the one before it") {
  PowerLogs logs;
  logs.write("node_0.txt", power_line(900, "power_reading", watts(9e9)) +
                               power_line(1000, "power_measurement_start") +
                               power_line(4000, "power_reading", watts(100)) +
                               power_line(2000, "power_reading", watts(400)) +
                               power_line(5000, "power_measurement_stop") +
                               power_line(6000, "power_reading", watts(9e9)));
  const auto energy = logs.read();
  REQUIRE(energy);
  CHECK(energy->joules == Approx((400 * 1000 + 100 * 2000) / 4000.0 * 600));
  REQUIRE(energy->problems.size() == 2);
  CHECK_THAT(energy->problems[0], Contains("result_3/node_0.txt has 2 readings"));
  CHECK_THAT(energy->problems[1], Contains("2.0 s between two readings"));
}

TEST_CASE("a log without a stop ends with its last reading, and says so") {
  PowerLogs logs;
  logs.write("node_0.txt", PowerLogs::node(1000, ""));
  CHECK(logs.read()->joules == Approx(600'000));
  CHECK_THAT(logs.problem(), Contains("no power_measurement_stop"));
}

TEST_CASE("power logs that cannot be used leave no energy and say why") {
  PowerLogs logs;
  std::string expected;
  SECTION("no node") {
    logs.write("sw_0.txt", power_line(1e12, "interconnect_power_est", watts(200)));
    expected = "power/result_3 has no node_*.txt";
  }
  SECTION("no start") {
    logs.write("node_0.txt", power_line(1e12, "power_reading", watts(200)));
    expected = "no power_measurement_start";
  }
  SECTION("no reading") {
    logs.write("node_0.txt", power_line(1e12, "power_measurement_start"));
    expected = "no reading after its start";
  }
  SECTION("no number") {
    logs.write("node_0.txt", PowerLogs::node(-1));
    expected = "no positive number";
  }
  SECTION("a text") {
    logs.write("node_0.txt",
               power_line(1e12, "conversion_eff", "\"good\"") + PowerLogs::node(1000));
    expected = "no positive number";
  }
  const auto energy = logs.read();
  REQUIRE(energy);
  CHECK(std::isnan(energy->joules));
  bool named = false;
  for (const std::string& problem : energy->problems)
    named = named || problem.find(expected) != std::string::npos;
  CHECK(named);
}

TEST_CASE("an entry's energy is the mean of the runs that count for its time") {
  std::vector<ScoredRun> runs = {run_of(0, 10, 99), run_of(1, 14, 99), run_of(2, 11, 99)};
  const double joules[] = {5e6, 9e6, 6e6};
  for (std::size_t i = 0; i < 3; ++i) runs[i].read.energy = RunEnergy{.joules = joules[i]};
  const RcpSet set = small_set();
  EntryScore entry = entry_of(runs);
  score_entry(entry, &set, {});
  CHECK(entry.energy_joules == Approx(6e6 * 100.0 / 99));
  runs[2].read.energy.reset();
  EntryScore incomplete = entry_of(runs);
  score_entry(incomplete, &set, {});
  CHECK(std::isnan(incomplete.energy_joules));
}

}  // namespace bench::mlperf
