#include "probes/state.h"

#include <cmath>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/fake_device.h"

namespace bench {
namespace {

constexpr MetricInfo kExampleMetrics[] = {{"rate", Unit::byte_per_second, Better::higher},
                                          {"time", Unit::second, Better::lower}};
const Probe kProbe{.name = "example", .metrics = kExampleMetrics};

struct StateFixture {
  Job job;
  FakeDevice device;
  std::unique_ptr<Group> group = make_self_group();
  CollectedRecords sink;

  Measurement work(double seconds = 0.002) {
    Measurement m;
    m.params = {{"size_bytes", 4000}};
    m.work = [this, seconds](std::int64_t calls) {
      device.time += Seconds{seconds * static_cast<double>(calls)};
    };
    m.reports = {{"rate", 4000.0}, {"time"}};
    return m;
  }
};

TEST_CASE("one measurement gives each of its metrics the same samples in its own unit") {
  StateFixture f;
  State state(f.job, kProbe, f.device, *f.group, f.sink);
  state.measure(f.work());
  const auto samples = f.sink.samples();
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].metric == "rate");
  CHECK(samples[0].unit == Unit::byte_per_second);
  CHECK(samples[0].values.front() == Approx(2e6));
  CHECK(samples[1].values.front() == Approx(0.002));
  CHECK(samples[1].better == Better::lower);
  CHECK(state.finish().status == Status::ok);
}

TEST_CASE("a metric that the schema does not declare cannot be reported") {
  StateFixture f;
  State state(f.job, kProbe, f.device, *f.group, f.sink);
  CHECK_THROWS_WITH(state.value("rat", 1.0), "probe example reports undeclared metric 'rat'");
  CHECK_THROWS_AS(state.value("rat", 1.0), Error);
  CHECK(f.sink.samples().empty());
}

TEST_CASE("a check that fails makes the series and the job invalid and keeps the samples") {
  StateFixture f;
  State state(f.job, kProbe, f.device, *f.group, f.sink);
  Measurement m = f.work();
  m.verify = [] { return Check{"exact", 1.0, 0.0}; };
  state.measure(m);
  CHECK(f.sink.samples()[0].outcome == Status::invalid);
  CHECK_FALSE(f.sink.samples()[0].values.empty());
  const Outcome outcome = state.finish();
  CHECK(outcome.status == Status::invalid);
  CHECK(outcome.reason.find("exact") != std::string::npos);
}

TEST_CASE("NaN never passes a check") {
  CHECK_FALSE(Check{"", std::nan(""), 1.0}.passed());
  StateFixture f;
  State state(f.job, kProbe, f.device, *f.group, f.sink);
  Measurement m = f.work();
  m.verify = [] { return Check{"relative error", std::nan(""), 1.0}; };
  state.measure(m);
  CHECK(state.finish().status == Status::invalid);
}

TEST_CASE("a result 2 % above a proven limit is invalid; above a measured one it stands") {
  StateFixture f;
  State state(f.job, kProbe, f.device, *f.group, f.sink);
  Measurement m = f.work();
  m.reports = {{"rate", 4000.0, Limit{1.9e6, LimitKind::measured, "another probe"}}};
  state.measure(m);
  CHECK(f.sink.samples()[0].outcome == Status::ok);
  m.reports = {{"rate", 4000.0, Limit{1.9e6, LimitKind::proven, "physics"}}};
  state.measure(m);
  CHECK(f.sink.samples()[1].outcome == Status::invalid);
  m.reports = {{"rate", 4000.0, Limit{1.97e6, LimitKind::proven, "physics"}}};
  state.measure(m);
  CHECK(f.sink.samples()[2].outcome == Status::ok);
}

TEST_CASE("a bound derived from the clock is exceeded only above the highest clock reading") {
  // Three readings of five are 10 % low: something else used the core while the clock was read.
  for (const double factor : {1.08, 1.2}) {
    StateFixture f;
    int readings = 0;
    f.device.next_clock = [&] { return Hertz{++readings % 5 < 3 ? 0.9e9 : 1.0e9}; };
    State state(f.job, kProbe, f.device, *f.group, f.sink);
    Measurement m = f.work();
    m.reports = {{.metric = "rate",
                  .amount = 4000.0,
                  .cycle_limit = CycleLimit{2e6 / factor / 0.9e9, LimitKind::proven, "ports"}}};
    state.measure(m);
    CHECK((f.sink.samples()[0].outcome == Status::invalid) == (factor == 1.2));
  }
}

TEST_CASE("for a metric where lower is better the limit is a floor") {
  const Limit floor{1.0, LimitKind::proven, "light"};
  CHECK(above_limit(0.9, Better::lower, floor) != "");
  CHECK(above_limit(1.1, Better::lower, floor) == "");
}

TEST_CASE("the limit of a series is the one whose parameters all match") {
  StateFixture f;
  f.job.limits = {{"rate", {{"size_bytes", 8000}}, {1e6, LimitKind::measured, "other size"}},
                  {"rate", {{"size_bytes", 4000}}, {3e6, LimitKind::measured, "this size"}}};
  State state(f.job, kProbe, f.device, *f.group, f.sink);
  state.measure(f.work());
  REQUIRE(f.sink.samples()[0].limit);
  CHECK(f.sink.samples()[0].limit->source == "this size");
  CHECK_FALSE(f.sink.samples()[1].limit);
}

TEST_CASE("a probe that reports nothing has failed") {
  StateFixture f;
  State state(f.job, kProbe, f.device, *f.group, f.sink);
  CHECK(state.finish().status == Status::failed);
}

TEST_CASE("a job all of whose series were skipped is skipped, with the reason") {
  StateFixture f;
  State state(f.job, kProbe, f.device, *f.group, f.sink);
  state.skip_series("rate", {{"size_bytes", 1}}, "no huge pages");
  const Outcome outcome = state.finish();
  CHECK(outcome.status == Status::skipped);
  CHECK(outcome.reason == "no huge pages");
}

TEST_CASE("a series without a clean sample reports that") {
  StateFixture f;
  f.job.measure.max_time_s = 0.1;
  f.device.fake_watch.next_loss = [] { return Seconds{1.0}; };
  State state(f.job, kProbe, f.device, *f.group, f.sink);
  state.measure(f.work());
  CHECK(f.sink.samples()[0].reason.find("no clean sample") != std::string::npos);
}

TEST_CASE("the phases of a job add up to its wall time") {
  StateFixture f;
  State state(f.job, kProbe, f.device, *f.group, f.sink);
  f.device.time += Seconds{0.5};  // preparing
  state.measure(f.work());
  const Outcome outcome = state.finish();
  double sum = 0.0;
  for (const Record& record : f.sink.records)
    if (const auto* phase = std::get_if<Phase>(&record.body)) sum += phase->seconds;
  CHECK(sum == Approx(outcome.seconds));
}

}  // namespace
}  // namespace bench
