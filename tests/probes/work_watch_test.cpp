#include "probes/work_watch.h"

#include "core/clean.h"
#include "probes/state.h"
#include "tests/support/catch.h"
#include "tests/support/core_thief.h"
#include "tests/support/fake_device.h"

namespace bench {
namespace {

constexpr Seconds kSample{0.06};  // judged by itself

struct Watched {
  FakeDevice device;
  std::unique_ptr<Group> group = make_self_group();
};

TEST_CASE("a value over several samples is clean if half of their time was") {
  const Conditions conditions{{kStolen, kClean, kPowerCapped, kThermal}, {1.0, 1.0, 2.0, 3.0}, {}};
  CHECK(conditions.over(0, 2) == kClean);
  CHECK(conditions.over(0, 3) == kPowerCapped);
  CHECK((conditions.over(2, 4) & kThermal) != 0);
  CHECK((conditions.over_all() & kUnclean) == (kStolen | kThermal));
  CHECK(Conditions{}.over_all() == kClean);
}

TEST_CASE("a value derived from several is clean only if all of them were") {
  const Conditions good{{kClean}, {1.0}, {}}, bad{{kStolen}, {0.1}, {}};
  CHECK(all_of({good, good}).over_all() == kClean);
  CHECK(all_of({good, bad}).over_all() == kStolen);
}

TEST_CASE("each sample has the flags of its own time") {
  Watched w;
  int sample = 0;
  w.device.next_slowdown = [&] { return sample == 1 ? unsigned{kThermal} : 0u; };
  WorkWatch watch(w.device, *w.group, Worker::device);
  for (; sample < 3; ++sample) {
    watch.begin();
    spin(kSample);
    watch.end();
  }
  const Conditions conditions = watch.finish();
  REQUIRE(conditions.flags.size() == 3);
  CHECK((conditions.flags[0] & kThermal) == 0);
  CHECK((conditions.flags[1] & kThermal) != 0);
  CHECK((conditions.flags[2] & kThermal) == 0);
  CHECK(conditions.seconds[1] >= kSample.value);
}

TEST_CASE("short samples share the verdict of their time") {
  Watched w;
  w.device.next_slowdown = [] { return unsigned{kThermal}; };
  WorkWatch watch(w.device, *w.group, Worker::device);
  for (int i = 0; i < 5; ++i) {
    watch.begin();
    watch.end();
  }
  const Conditions conditions = watch.finish();
  REQUIRE(conditions.flags.size() == 5);
  for (const unsigned flags : conditions.flags) CHECK((flags & kThermal) != 0);
}

TEST_CASE("a clock that moves marks the samples of a device that works, not of idle threads") {
  for (const Worker worker : {Worker::device, Worker::threads}) {
    Watched w;
    int reading = 0;
    w.device.next_clock = [&] { return Hertz{++reading == 5 ? 1.5e9 : 2e9}; };
    WorkWatch watch(w.device, *w.group, worker);
    for (int i = 0; i < 5; ++i) {
      watch.begin();
      spin(kSample);
      watch.end();
    }
    const bool moved = (watch.finish().flags.at(4) & kClockMoved) != 0;
    CHECK(moved == (worker == Worker::device));
  }
}

TEST_CASE("what others use of the machine marks every sample, and the series say so") {
  Watched w;
  double readings = 0.0;
  w.device.fake_watch.next_machine = [&] {
    readings += 100.0;
    return MachineTime{readings / 2.0, readings, 0.01};
  };
  int calls = 0;
  const Conditions conditions = watched(w.device, *w.group, Worker::threads, [&] { ++calls; });
  CHECK(calls == 1);
  REQUIRE(conditions.flags.size() == 1);
  CHECK((conditions.flags[0] & kCrowded) != 0);
  CHECK(conditions.quality.others_share.value() > 0.4);

  constexpr MetricInfo kMetrics[] = {{"time", Unit::second, Better::lower}};
  const Probe probe{.name = "example", .metrics = kMetrics};
  const Job job;
  CollectedRecords sink;
  State state(job, probe, w.device, *w.group, sink);
  state.under(conditions).values("time", {1.0, 2.0, 3.0});
  const Samples samples = sink.samples().at(0);
  CHECK(samples.flags.size() == 3);
  CHECK(count_clean(samples.flags) == 0);
  CHECK_THAT(samples.reason, Catch::Matchers::Contains("crowded: other processes used"));
}

TEST_CASE("a sample that lost its core to another process is not clean") {
  const CoreThief thief;
  Watched w;
  for (const Worker worker : {Worker::device, Worker::threads}) {
    const Conditions conditions = watched(w.device, *w.group, worker, [] { spin({0.3}); });
    CHECK((conditions.over_all() & kStolen) != 0);
    WorkWatch watch(w.device, *w.group, worker);
    watch.begin();
    spin({0.3});
    watch.end();
    CHECK((watch.finish().over_all() & kStolen) != 0);
  }
}

TEST_CASE("an error of the work ends its watch") {
  Watched w;
  CHECK_THROWS_AS(watched(w.device, *w.group, Worker::threads, [] { throw 1; }), int);
}

}  // namespace
}  // namespace bench
