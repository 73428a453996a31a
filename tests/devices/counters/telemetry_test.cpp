#include <cmath>
#include <limits>

#include "devices/counters/counter_source.h"
#include "devices/counters/recorder.h"
#include "devices/counters/summary.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

/// A source with one counter that grows by one at each reading.
CounterSources counting(double period = 0.0) {
  CounterSources sources;
  sources.push_back(std::make_unique<TableSource>(
      "fake", std::vector<CounterColumn>{{"n", "count", CounterColumn::counter}},
      [n = 0](std::span<double> values) mutable { values[0] = n++; }, Seconds{period}));
  return sources;
}

Recorder recorder(double period, std::size_t most_rows = 100, double least = 0.0) {
  RecorderSettings settings;
  settings.period = Seconds{period};
  settings.most_rows = most_rows;
  return Recorder(counting(least), settings);
}

TEST_CASE("a source is read when it is due, and not before") {
  Recorder r = recorder(1.0);
  for (const double now : {10.0, 10.4, 10.9, 11.0, 11.5, 12.01}) r.tick(now);
  CHECK(r.recordings()[0].times == std::vector<double>{10.0, 11.0, 12.01});
  CHECK(r.recordings()[0].late == 0);
  CHECK(r.next_due() == Approx(13.0));
}

TEST_CASE("readings that were missed are counted as late, not made up for") {
  Recorder r = recorder(1.0);
  for (const double now : {0.0, 1.0, 4.7, 5.0}) r.tick(now);
  CHECK(r.recordings()[0].times == std::vector<double>{0.0, 1.0, 4.7, 5.0});
  CHECK(r.recordings()[0].late == 1);
  CHECK(r.next_due() == Approx(6.0));
}

TEST_CASE("a source that must not be asked often is asked less often") {
  Recorder r = recorder(0.1, 100, 1.0);
  for (int i = 0; i <= 20; ++i) r.tick(0.1 * i);
  CHECK(r.recordings()[0].times.size() == 3);
  CHECK(r.recordings()[0].period == Seconds{1.0});
}

TEST_CASE("a long recording is thinned out and stays whole from first to last") {
  Recorder r = recorder(1.0, 8);
  for (int i = 0; i <= 100; ++i) r.tick(i);
  r.tick_all(100.5);
  const Recording& recording = r.recordings()[0];
  CHECK(recording.times.size() <= 8);
  CHECK(recording.times.size() >= 4);
  CHECK(recording.times.front() == 0.0);
  CHECK(recording.times.back() == 100.5);
  CHECK(recording.period.value >= 16.0);
  CHECK(recording.values[0].size() == recording.times.size());
}

TEST_CASE("without sources there is nothing to wait for") {
  Recorder r({}, {});
  r.tick(1.0);
  CHECK(std::isinf(r.next_due()));
}

TEST_CASE("a counter that ran over is put right, one that was reset is unknown") {
  const CounterColumn wrapping{"e", "joule", CounterColumn::counter, 1000.0};
  const auto grown = growth(wrapping, {900.0, 950.0, 20.0, 60.0});
  REQUIRE(grown.size() == 3);
  CHECK(grown[0] == 50.0);
  CHECK(grown[1] == 70.0);
  CHECK(grown[2] == 40.0);
  // It fell by less than half its range: it began anew, for a full range does not pass so soon.
  CHECK(std::isnan(growth(wrapping, {400.0, 10.0})[0]));
  const CounterColumn endless{"b", "byte", CounterColumn::counter};
  const auto reset = growth(endless, {500.0, 600.0, 5.0, 25.0, kNan, 30.0});
  CHECK(reset[0] == 100.0);
  CHECK(std::isnan(reset[1]));
  CHECK(reset[2] == 20.0);
  CHECK(std::isnan(reset[3]));
  CHECK(std::isnan(reset[4]));
  CHECK(growth(endless, {}).empty());
  CHECK(growth(endless, {1.0}).empty());
}

Recording recording_of(const CounterColumn& column, std::vector<double> values) {
  Recording recording;
  recording.source = "s";
  recording.columns = {column};
  for (std::size_t i = 0; i < values.size(); ++i) recording.times.push_back(double(i));
  recording.values = {std::move(values)};
  return recording;
}

const CounterColumn kPower{"power_w", "watt", CounterColumn::gauge};
const CounterColumn kBytes{"sent_bytes", "byte", CounterColumn::counter};

TEST_CASE("a gauge's summary is of the readings inside the phase") {
  const Recording r = recording_of(kPower, {100.0, 200.0, 300.0, 400.0, 1000.0});
  const Json json = summarise(r, {{"measure", {}, 1.0, 3.0}}).at("power_w");
  CHECK(json.at("n") == 3);
  CHECK(json.at("min") == 200.0);
  CHECK(json.at("mean") == 300.0);
  CHECK(json.at("max") == 400.0);
  CHECK(json.at("unit") == "watt");
  CHECK(json.at("energy_j") == 600.0);  // 250 W and 350 W, one second each
}

TEST_CASE("bit sets are summarised as each bit's share of the readings") {
  const CounterColumn reasons{"reasons", "bits", CounterColumn::gauge, 0.0, {"idle", "x", "cap"}};
  const Recording r = recording_of(reasons, {1.0, 4.0, kNan, 5.0, 4.0, 8.0, 1e300, -1.0});
  const Json json = summarise(r, {{"measure", {}, 1.0, 7.0}}).at("reasons");
  CHECK(json.at("n") == 4);  // what is no set of bits is no reading
  CHECK(json.at("shares") == Json{{"idle", 0.25}, {"cap", 0.75}});
  CHECK(json.at("unit") == "bits");
  CHECK(summarise(r, {{"measure", {}, 0.4, 0.6}}).at("reasons").at("shares").is_null());
}

TEST_CASE("a counter's total and rate are those of the phase, partial intervals by their part") {
  const Recording r = recording_of(kBytes, {0.0, 100.0, 300.0, 300.0});
  const Json json = summarise(r, {{"measure", {}, 0.5, 2.0}}).at("sent_bytes");
  CHECK(json.at("total") == 250.0);  // half of 100, and 200
  CHECK(json.at("mean").get<double>() == Approx(250.0 / 1.5));
  CHECK(json.at("min") == 100.0);
  CHECK(json.at("max") == 200.0);
  CHECK(json.at("unit") == "byte_per_second");
}

TEST_CASE("what was counted wholly inside a phase is its total to the last bit") {
  // 10 / (1.4 - 1.1) * (1.4 - 1.1), for one, is less than 10.
  Recording r = recording_of(kBytes, {});
  for (int i = 0; i < 1000; ++i) {
    r.times = {0.1 * i, 0.1 * i + 0.3};
    r.values[0] = {0.0, 10.0};
    CHECK(summarise(r, {{"job", {}, -1.0, 200.0}}).at("sent_bytes").at("total") == 10.0);
  }
}

TEST_CASE("unknown readings are ignored, and a phase without any is null, not zero") {
  const Recording r = recording_of(kPower, {100.0, kNan, 300.0});
  const Json some = summarise(r, {{"measure", {}, 0.0, 2.0}}).at("power_w");
  CHECK(some.at("n") == 2);
  CHECK(some.at("mean") == 200.0);
  const Json none = summarise(r, {{"measure", {}, 0.2, 0.8}}).at("power_w");
  CHECK(none.at("n") == 0);
  CHECK(none.at("mean").is_null());
  CHECK(none.at("max").is_null());
  CHECK(summarise(recording_of(kBytes, {1.0}), {{"measure", {}, 0.0, 2.0}})
            .at("sent_bytes")
            .at("total")
            .is_null());
}

TEST_CASE("phases of one series are taken together, those of different series apart") {
  const Recording r = recording_of(kPower, {10.0, 20.0, 30.0, 40.0, 50.0, 60.0});
  const Json m512 = {{"m", 512}}, m1024 = {{"m", 1024}};
  const Json phases = summarise_phases({r}, {{"job", Json::object(), 0.0, 5.0},
                                             {"measure", m512, 0.0, 1.0},
                                             {"measure", m1024, 2.0, 3.0},
                                             {"measure", m512, 4.0, 5.0}});
  REQUIRE(phases.size() == 3);
  CHECK(phases[0].at("phase") == "job");
  CHECK(phases[1].at("params") == m512);
  CHECK(phases[1].at("seconds") == 2.0);
  CHECK(phases[1].at("sources").at("s").at("power_w").at("mean") == 35.0);
  CHECK(phases[2].at("sources").at("s").at("power_w").at("mean") == 35.0);
  CHECK(phases[2].at("sources").at("s").at("power_w").at("n") == 2);
  CHECK(summarise_phases({r}, {{"a", {}, 0, 1}, {"b", {}, 1, 2}, {"c", {}, 2, 3}}, 2).size() == 2);
}

}  // namespace
}  // namespace bench
