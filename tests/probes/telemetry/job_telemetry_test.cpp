#include "probes/server/job_telemetry.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "core/record.h"
#include "core/schema.h"
#include "core/system_files.h"
#include "devices/counters/counter_source.h"
#include "probes/server/rank_server.h"
#include "tests/support/catch.h"
#include "tests/support/fake_device.h"

namespace bench {
namespace {

const CounterColumn kGauge{"power_w", "watt", CounterColumn::gauge};
const CounterColumn kCounter{"sent_bytes", "byte", CounterColumn::counter};

/// 100 W, and a counter that starts high and grows by ten a reading.
CounterSources fake_sources() {
  CounterSources sources;
  sources.push_back(std::make_unique<TableSource>("fake",
                                                  std::vector<CounterColumn>{kGauge, kCounter},
                                                  [n = 1e12](std::span<double> values) mutable {
                                                    values[0] = 100.0;
                                                    values[1] = n += 10.0;
                                                  }));
  return sources;
}

struct Served {
  CollectedRecords sink;
  template <class Body>
  std::vector<Body> bodies() const {
    std::vector<Body> found;
    for (const Record& record : sink.records)
      if (const auto* body = std::get_if<Body>(&record.body)) found.push_back(*body);
    return found;
  }
  const Facts* telemetry() const {
    for (const Record& record : sink.records)
      if (const auto* facts = std::get_if<Facts>(&record.body);
          facts != nullptr && facts->topic == "telemetry")
        return facts;
    return nullptr;
  }
};

void measures(State& state) {
  Measurement m;
  m.params = {{"m", 512}};
  m.work = [&state](std::int64_t calls) {
    static_cast<FakeDevice&>(state.device()).time += Seconds{1e-4 * static_cast<double>(calls)};
  };
  m.reports = {{"time"}};
  state.measure(m);
}
constexpr MetricInfo kTelemetryMetrics[] = {{"time", Unit::second, Better::lower}};
const Declaration kTelemetryDeclaration("telemetry_test_probe", "Tests telemetry.",
                                        kTelemetryMetrics);
const Registration kTelemetryProbe("telemetry_test_probe", measures);

Served serve(const TelemetrySettings& telemetry, const SourceFactory& sources) {
  Job job;
  job.id = "1";
  job.probe = "telemetry_test_probe";
  job.telemetry = telemetry;
  Served served;
  FakeDevice device;
  const auto group = make_self_group();
  std::istringstream in(dump(to_json(job)) + "\n");
  RankServer(*group, device, served.sink, sources).serve(in);
  return served;
}

TEST_CASE("a job without telemetry reads no counters") {
  bool touched = false;
  const Served served = serve({}, [&] {
    touched = true;
    return fake_sources();
  });
  CHECK_FALSE(touched);
  CHECK(served.telemetry() == nullptr);
  CHECK(served.bodies<Chunk>().empty());
  CHECK(served.bodies<Samples>().size() == 1);
}

TEST_CASE("a job with telemetry reports chunks and a summary of each phase") {
  TelemetrySettings settings;
  settings.enabled = true;
  settings.period_s = 0.01;
  const Served served = serve(settings, fake_sources);
  REQUIRE(served.bodies<Chunk>().size() == 1);
  const Chunk chunk = served.bodies<Chunk>()[0];
  CHECK(chunk.name == "telemetry.fake");
  CHECK(chunk.columns.at("time_s").size() >= 2);  // at the start and at the end at least
  CHECK(chunk.columns.at("sent_bytes")[0] == 0.0);
  CHECK(chunk.columns.at("sent_bytes")[1] == 10.0);
  CHECK(chunk.columns.at("power_w")[0] == 100.0);

  REQUIRE(served.telemetry() != nullptr);
  const Json& facts = served.telemetry()->facts;
  CHECK(facts.at("cpu_s") >= 0.0);
  CHECK(facts.at("recordings").at("fake").at("readings") == chunk.columns.at("time_s").size());
  const Json& phases = facts.at("phases");
  REQUIRE(phases.size() == 3);
  CHECK(phases[0].at("phase") == "job");
  CHECK(phases[0].at("sources").at("fake").at("power_w").at("mean") == 100.0);
  CHECK(phases[0].at("sources").at("fake").at("sent_bytes").at("total") >= 10.0);
  CHECK(phases[1].at("phase") == "warm_up");
  CHECK(phases[2].at("phase") == "measure");
  CHECK(phases[2].at("params") == Json{{"m", 512}});
  CHECK(phases[2].at("seconds") > 0.0);
}

TEST_CASE("records of telemetry satisfy schemas/record.json, before the job's outcome") {
  TelemetrySettings settings;
  settings.enabled = true;
  const Served served = serve(settings, fake_sources);
  const Schema schema = Schema::load("schemas/record.json");
  for (const Record& record : served.sink.records)
    CHECK_NOTHROW(schema.check(parse_json(dump(to_json(record)), "test"), "record"));
  CHECK(std::holds_alternative<Outcome>(served.sink.records.back().body));
}

TEST_CASE("a sampler counts its own time and stops at once") {
  RecorderSettings settings;
  settings.period = Seconds{3600.0};
  SamplerThread sampler(fake_sources, settings);
  const auto begin = std::chrono::steady_clock::now();
  const Telemetry telemetry = sampler.stop();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(took.count() < 1.0);
  CHECK(telemetry.problem.empty());
  REQUIRE(telemetry.recordings.size() == 1);
  CHECK(telemetry.recordings[0].times.size() >= 1);
  CHECK(telemetry.cpu.value > 0.0);
  CHECK(telemetry.cpu < telemetry.wall + Seconds{0.1});
}

TEST_CASE("a sampler reads again and again") {
  std::atomic<int> readings = 0;
  const SourceFactory counted = [&readings] {
    CounterSources sources;
    sources.push_back(std::make_unique<TableSource>(
        "fake", std::vector<CounterColumn>{kGauge},
        [&readings](std::span<double> values) { values[0] = ++readings; }));
    return sources;
  };
  RecorderSettings settings;
  settings.period = Seconds{0.001};
  SamplerThread sampler(counted, settings);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (readings < 5 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  const Telemetry telemetry = sampler.stop();
  CHECK(telemetry.recordings[0].times.size() >= 5);
}

TEST_CASE("a sampler does not stay on the core its rank is pinned to") {
  cpu_set_t before, one, seen;
  CPU_ZERO(&one);
  CPU_ZERO(&seen);
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  const int core = sched_getcpu();
  CPU_SET(core, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  SamplerThread sampler([&seen] {
    sched_getaffinity(0, sizeof seen, &seen);
    return CounterSources();
  });
  sampler.stop();
  sched_setaffinity(0, sizeof before, &before);
  CHECK(CPU_COUNT(&seen) >= CPU_COUNT(&before));
}

TEST_CASE("a source that throws ends the telemetry, not the rank") {
  SamplerThread sampler([]() -> CounterSources { throw std::runtime_error("out of files"); });
  const Telemetry telemetry = sampler.stop();
  CHECK(telemetry.problem == "out of files");
  CHECK(summarise_job(telemetry, {}) == Json{{"problem", "out of files"}});
}

TEST_CASE("a source that hangs is abandoned, and the job keeps its results") {
  const auto hang = std::make_shared<std::atomic<bool>>(true);
  const SourceFactory hanging = [hang] {
    CounterSources sources;
    sources.push_back(std::make_unique<TableSource>(
        "sick", std::vector<CounterColumn>{kGauge}, [hang](std::span<double>) {
          while (*hang) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }));
    return sources;
  };
  SamplerThread sampler(hanging);
  const Telemetry telemetry = sampler.stop(Seconds{0.05});
  CHECK(telemetry.problem.find("did not return") != std::string::npos);
  CHECK(telemetry.recordings.empty());
  CHECK(summarise_job(telemetry, {}).contains("problem"));
  *hang = false;  // else a sanitizer finds the thread
}

TEST_CASE("error counters alone take two readings, and zeros are reported once") {
  int readings = 0;
  const SourceFactory sources = [&readings] {
    CounterSources all = fake_sources();  // counts no errors: it is not even read
    all.push_back(std::make_unique<TableSource>(
        "gpu0.health",
        std::vector<CounterColumn>{{"pcie_replays", "count", CounterColumn::counter},
                                   {"ecc_uncorrected", "count", CounterColumn::counter}},
        [&readings](std::span<double> values) {
          values[0] = 7.0 + ++readings;
          values[1] = 0.0;
        }));
    return all;
  };
  Job job;
  job.id = "1";
  job.probe = "telemetry_test_probe";
  job.telemetry = {.counters = true};
  Served served;
  FakeDevice device;
  const auto group = make_self_group();
  const std::string line = dump(to_json(job)) + "\n";
  std::istringstream in(line + line);
  RankServer(*group, device, served.sink, sources).serve(in);
  CHECK(readings == 4);
  CHECK(served.telemetry() == nullptr);
  CHECK(served.bodies<Chunk>().empty());
  const auto facts = served.bodies<Facts>();
  REQUIRE(facts.size() == 2);
  REQUIRE(facts[0].topic == "counters");
  const Json& first = facts[0].facts.at("hosts").at(0);
  CHECK(first.at("host") == host_name());
  CHECK(first.at("counters") ==
        Json{{"gpu0.health", {{"pcie_replays", 1}, {"ecc_uncorrected", 0}}}});
  const Json& second = facts[1].facts.at("hosts").at(0);
  CHECK(second.at("counters") == Json{{"gpu0.health", {{"pcie_replays", 1}}}});
}

}  // namespace
}  // namespace bench
