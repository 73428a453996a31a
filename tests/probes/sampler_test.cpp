#include "probes/sampler.h"

#include <algorithm>

#include "core/clean.h"
#include "core/order_statistics.h"
#include "tests/support/catch.h"
#include "tests/support/fake_device.h"

namespace bench {
namespace {

/// Work that takes as long as `next` says, by the fake clock.
struct Scripted {
  FakeDevice device;
  std::unique_ptr<Group> group = make_self_group();
  MeasureSettings settings;
  std::int64_t calls_made = 0;
  std::function<double()> next = [] { return 0.002; };
  std::function<std::optional<double>()> core_share = {};
  Timing timing = Timing::isolated;
  bool one_launch = false;
  std::vector<std::int64_t> pieces = {};  // calls of each

  TimedSeries run() {
    Measurement m;
    m.timing = timing;
    m.calls = timing == Timing::isolated ? 0 : 1;
    m.one_launch = one_launch;
    m.core_share = core_share;
    m.work = [this](std::int64_t calls) {
      pieces.push_back(calls);
      for (std::int64_t i = 0; i < calls; ++i) {
        device.time += Seconds{next()};
        ++calls_made;
      }
    };
    Crowding crowding(device, *group);
    return Sampler(device, *group, settings, crowding).run(m);
  }
};

TEST_CASE("a steady series stops when its median is known to 1 %") {
  Scripted s;
  const TimedSeries series = s.run();
  CHECK(series.stop == "interval");
  CHECK(series.calls == 1);
  CHECK(median(series.seconds) == Approx(0.002));
  CHECK(series.seconds.size() >= 20);
  CHECK(series.measure_s >= s.settings.min_time_s);
}

TEST_CASE("work shorter than a sample is repeated inside it, and the time is of one call") {
  Scripted s;
  s.next = [] { return 1e-6; };
  const TimedSeries series = s.run();
  CHECK(series.calls >= 1000);
  CHECK(series.calls <= 1500);
  CHECK(median(series.seconds) == Approx(1e-6));
}

TEST_CASE("a sample has no more calls than the device can enqueue") {
  Scripted s;
  s.next = [] { return 1e-6; };
  s.device.calls_at_most = 400;
  CHECK(s.run().calls == 400);
  Scripted chain;  // a kernel that makes its calls in a loop is one launch
  chain.next = s.next;
  chain.device.calls_at_most = 400;
  chain.one_launch = true;
  CHECK(chain.run().calls >= 1000);
}

TEST_CASE("back-to-back calls are timed together, calls with barriers one by one") {
  Scripted s;
  s.timing = Timing::pipelined;
  CHECK(median(s.run().seconds) == Approx(0.002));
  CHECK(*std::ranges::max_element(s.pieces) > 1);
  Scripted osu;
  osu.timing = Timing::osu;
  CHECK(median(osu.run().seconds) == Approx(0.002));
  CHECK(*std::ranges::max_element(osu.pieces) == 1);
}

TEST_CASE("a noisy series stops at its time cap and records that") {
  Scripted s;
  int i = 0;
  s.next = [&] { return ++i % 2 == 0 ? 0.002 : 0.004; };
  s.settings.max_time_s = 0.5;
  const TimedSeries series = s.run();
  CHECK(series.stop == "max_time");
  CHECK(series.measure_s < 0.6);
}

TEST_CASE("a series stops at its sample cap and records that") {
  Scripted s;
  int i = 0;
  s.next = [&] { return ++i % 2 == 0 ? 0.002 : 0.004; };
  s.settings.max_samples = 30;
  CHECK(s.run().stop == "max_samples");
}

TEST_CASE("samples that lost 0.1 % of their time are kept and flagged") {
  Scripted s;
  int i = 0;
  s.device.fake_watch.next_loss = [&] { return Seconds{++i % 3 == 0 ? 3e-6 : 1e-6}; };
  const TimedSeries series = s.run();
  const std::size_t clean = count_clean(series.flags);
  CHECK(clean >= 20);
  CHECK(clean < series.flags.size());
  CHECK(series.seconds.size() == series.flags.size());
}

TEST_CASE("if every sample is disturbed, the series ends at its cap without a clean one") {
  Scripted s;
  s.device.fake_watch.next_loss = [] { return Seconds{1.0}; };
  s.settings.max_time_s = 0.2;
  const TimedSeries series = s.run();
  CHECK(series.stop == "max_time");
  CHECK(count_clean(series.flags) == 0);
  CHECK(representative(series.seconds, series.flags).size() == series.seconds.size());
}

TEST_CASE("a clock 5 % away from its running median flags the sample") {
  Scripted s;
  int i = 0;
  s.device.next_clock = [&]() -> std::optional<Hertz> {
    ++i;
    return Hertz{i > 30 && i % 4 == 0 ? 2.85e9 : 3.0e9};
  };
  s.settings.min_time_s = 0.2;
  const TimedSeries series = s.run();
  std::size_t moved = 0;
  for (unsigned flag : series.flags) moved += (flag & kClockMoved) != 0;
  CHECK(moved > 5);
  CHECK(moved < series.flags.size() / 2);
}

TEST_CASE("warm-up continues until the samples no longer change") {
  Scripted s;
  double t = 0.004;
  s.next = [&] { return t = std::max(0.002, t * 0.99); };  // 70 calls to settle
  const TimedSeries series = s.run();
  CHECK(series.warm_up_s > 0.15);
  CHECK(series.seconds.front() == Approx(0.002).epsilon(0.02));
}

TEST_CASE("warm-up that never settles ends at its cap") {
  Scripted s;
  double t = 0.001;
  s.next = [&] { return t *= 1.02; };
  s.settings.warm_up_max_s = 0.3;
  s.settings.max_time_s = 0.3;
  CHECK(s.run().warm_up_s < 0.5);
}

TEST_CASE("on a device whose clock varies by design no sample is flagged for it") {
  for (const bool steady : {true, false}) {
    Scripted s;
    s.device.steady = steady;
    int i = 0;
    s.device.next_clock = [&] { return Hertz{++i % 3 == 0 ? 1.5e9 : 1.98e9}; };
    const TimedSeries series = s.run();
    CHECK((count_clean(series.flags) == series.flags.size()) == !steady);
    CHECK_FALSE(series.clocks.empty());
  }
}

/// A machine of two cores on which others use `share` of the time that passes.
void crowd(Scripted& s, double share) {
  s.device.fake_watch.machine = MachineTime{100.0, 200.0, 0.01};
  s.next = [&s, share] {
    constexpr double kSeconds = 0.002;
    s.device.fake_watch.cpu += Seconds{kSeconds};
    s.device.fake_watch.machine->all_s += 2 * kSeconds;
    s.device.fake_watch.machine->busy_s += kSeconds + 2 * kSeconds * share;
    return kSeconds;
  };
}

TEST_CASE("thermal throttling makes samples not clean, a power cap is only noted") {
  Scripted s;
  int batch = 0;
  s.device.next_slowdown = [&] {
    return ++batch % 4 == 0 ? kThermal | kPowerCapped : kPowerCapped;
  };
  const TimedSeries series = s.run();
  const auto carry = [&](unsigned flag) {
    return std::ranges::count_if(series.flags, [&](unsigned flags) { return (flags & flag) != 0; });
  };
  const auto n = static_cast<std::ptrdiff_t>(series.flags.size());
  CHECK(carry(kPowerCapped) == n);
  CHECK(carry(kThermal) >= n / 5);
  CHECK(static_cast<std::ptrdiff_t>(count_clean(series.flags)) == n - carry(kThermal));
}

TEST_CASE("samples of threads that shared a core are not clean") {
  Scripted s;
  double last = 0.0;
  s.next = [&, i = 0]() mutable { return last = ++i % 3 == 0 ? 0.004 : 0.002; };
  s.core_share = [&] { return last > 0.003 ? 0.49 : 0.93; };
  const TimedSeries series = s.run();
  for (std::size_t i = 0; i < series.seconds.size(); ++i)
    CHECK(((series.flags[i] & kCoreShared) != 0) == (series.seconds[i] > 0.003));
  CHECK(count_clean(series.flags) >= series.flags.size() / 2);
  CHECK(median(representative(series.seconds, series.flags)) == Approx(0.002));
}

TEST_CASE("if sharing of cores is unknown, samples are clean") {
  Scripted s;
  s.core_share = [] { return std::nullopt; };
  const TimedSeries series = s.run();
  CHECK(count_clean(series.flags) == series.flags.size());
}

TEST_CASE("if other processes use a tenth of the machine, no sample is clean") {
  Scripted s;
  s.settings.min_time_s = 1.0;
  crowd(s, 0.3);
  const TimedSeries series = s.run();
  CHECK(series.others_share.value() == Approx(0.3).margin(0.02));
  CHECK(count_clean(series.flags) == 0);
  CHECK(median(representative(series.seconds, series.flags)) == Approx(0.002));
}

TEST_CASE("a small load of other processes, or one within the kernel's tick, is ignored") {
  Scripted s;
  s.settings.min_time_s = 1.0;
  crowd(s, 0.05);
  CHECK(count_clean(s.run().flags) > 20);
  Scripted brief;  // 50 ms of two cores: two ticks of 100 ms
  brief.settings.min_time_s = 0.05;
  crowd(brief, 0.11);
  CHECK(brief.run().others_share.value() < 0.1);
}

TEST_CASE("if the kernel does not report other processes' load, it is unknown") {
  Scripted s;
  const TimedSeries series = s.run();
  CHECK_FALSE(series.others_share);
  CHECK(count_clean(series.flags) == series.flags.size());
}

TEST_CASE("a series shorter than the kernel's ticks is judged with the time before it") {
  Scripted s;
  s.settings.max_samples = 20;
  crowd(s, 0.3);
  Crowding crowding(s.device, *s.group);
  Measurement m;
  m.work = [&](std::int64_t) { s.device.time += Seconds{s.next()}; };
  m.calls = 1;
  std::optional<double> share;
  for (int i = 0; i < 10; ++i)
    share = Sampler(s.device, *s.group, s.settings, crowding).run(m).others_share;
  CHECK(share.value() == Approx(0.3).margin(0.05));
}

}  // namespace
}  // namespace bench
