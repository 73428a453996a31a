// Slowdowns of a training's steps, on step times that are known.
#include "training/trainer/slowdown_watch.h"

#include <cmath>
#include <random>

#include "tests/support/catch.h"

namespace bench::training {
namespace {

/// A step whose backward pass takes two thirds, and `more` of data loading.
StepOutcome slow_watch_step(double seconds, double more = 0.0) {
  StepOutcome step;
  step.data = Seconds{more};
  step.forward = Seconds{seconds / 3.0};
  step.backward = Seconds{seconds * 2.0 / 3.0};
  step.total = Seconds{seconds + more};
  return step;
}

/// What a watch reports about steps of these times.
std::vector<TrainingSlowdown> slowdowns(std::int64_t steps, const auto& step_of) {
  SlowdownWatch watch;
  std::vector<TrainingSlowdown> found;
  for (std::int64_t step = 0; step < steps; ++step)
    if (const auto one = watch.after_step(step, step_of(step))) found.push_back(*one);
  if (const auto last = watch.finish(steps)) found.push_back(*last);
  return found;
}

}  // namespace

TEST_CASE("a slowdown is reported with the step where it began, its end and its phase") {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0.0, 0.05);
  const auto found = slowdowns(600, [&](std::int64_t step) {
    const double seconds = 0.2 * std::exp(noise(random));
    return slow_watch_step(seconds, step >= 300 && step < 400 ? 0.1 : 0.0);
  });
  REQUIRE(found.size() == 2);
  CHECK(std::abs(found[0].first - 300) <= 2);
  CHECK_FALSE(found[0].end);
  CHECK(found[0].usual_s == Approx(0.2).epsilon(0.03));
  CHECK(found[0].slow_s == Approx(0.3).epsilon(0.05));
  CHECK(found[0].phase == "data");
  CHECK(found[0].phase_share == Approx(1.0).epsilon(0.2));
  CHECK(found[1].first == found[0].first);
  CHECK(std::abs(found[1].end.value() - 400) <= 2);
  CHECK(found[1].slow_s == Approx(0.3).epsilon(0.03));
}

TEST_CASE("a slowdown of steps without scatter is reported within twenty steps") {
  SlowdownWatch watch;
  std::int64_t step = 0;
  for (; step < 100; ++step) REQUIRE_FALSE(watch.after_step(step, slow_watch_step(0.5)));
  while (step < 200 && !watch.after_step(step, slow_watch_step(0.65))) ++step;
  CHECK(step < 120);
  CHECK(watch.slow());
}

TEST_CASE("one slowdown among scattered steps is one, of about its size") {
  for (const auto& [scatter, factor] : {std::pair(0.2, 1.5), std::pair(0.3, 1.6)}) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> noise(0.0, scatter);
    const auto found = slowdowns(4'000, [&](std::int64_t step) {
      const double slow = step >= 1'000 && step < 3'000 ? factor : 1.0;
      return slow_watch_step(0.1 * slow * std::exp(noise(random)));
    });
    INFO("scatter " << scatter);
    REQUIRE(found.size() == 2);
    CHECK(std::abs(found[0].first - 1'000) <= 30);
    CHECK(std::abs(found[1].end.value() - 3'000) <= 30);
    CHECK(found[1].slow_s / found[1].usual_s == Approx(factor).epsilon(0.05));
  }
}

TEST_CASE("a stall neither hides a later slowdown nor is one") {
  for (const std::int64_t stall : {15, 90}) {  // among the steps that say what is usual, and later
    const auto found = slowdowns(300, [&](std::int64_t step) {
      return slow_watch_step(step == stall ? 60.0 : step < 120 ? 0.1 : 0.2);
    });
    REQUIRE(found.size() == 2);
    CHECK(found[0].first == 120);
    CHECK(found[1].usual_s == Approx(0.1).epsilon(0.2));
    CHECK(found[1].slow_s == Approx(0.2));
  }
}

TEST_CASE("a slowdown by ten is reported with its size") {
  const auto found =
      slowdowns(100, [](std::int64_t step) { return slow_watch_step(step < 50 ? 0.1 : 1.0); });
  REQUIRE(found.size() == 2);
  CHECK(found[0].slow_s == Approx(1.0));
}

TEST_CASE("steps that are a little slower for long become usual") {
  const auto found = slowdowns(2'000, [](std::int64_t step) {
    return slow_watch_step(step < 500 ? 0.1 : step < 1'500 ? 0.115 : 0.138);
  });
  REQUIRE(found.size() == 2);  // a fifth more than what was usual by then
  CHECK(found[0].first == 1'500);
  CHECK(found[0].usual_s == Approx(0.115).epsilon(0.01));
}

TEST_CASE("noise, single stalls, small changes and slow first steps are no slowdowns") {
  std::mt19937_64 random(2);
  for (const double spread : {0.02, 0.1, 0.3}) {
    std::normal_distribution<double> noise(0.0, spread);
    const auto noisy = [&](std::int64_t) { return slow_watch_step(0.1 * std::exp(noise(random))); };
    CHECK(slowdowns(20'000, noisy).empty());
  }
  CHECK(slowdowns(1'000, [](std::int64_t step) {
          return slow_watch_step(step % 100 == 50 ? 3.0 : 0.1);
        }).empty());
  CHECK(slowdowns(3'000, [](std::int64_t step) {
          return slow_watch_step(step < 500 ? 0.1 : 0.11);
        }).empty());
  CHECK(slowdowns(1'000, [](std::int64_t step) {
          return slow_watch_step(step < SlowdownWatch::kColdSteps ? 2.0 : 0.1);
        }).empty());
}

TEST_CASE("a slowdown shorter than two seconds is not reported") {
  CHECK(slowdowns(5'000, [](std::int64_t step) {
          return slow_watch_step(step >= 1'000 && step < 1'100 ? 0.015 : 0.01);
        }).empty());
}

TEST_CASE("a training that ends slow says so with its last step") {
  const auto found =
      slowdowns(200, [](std::int64_t step) { return slow_watch_step(step < 150 ? 0.5 : 1.0); });
  REQUIRE(found.size() == 2);
  CHECK(found[1].first == 150);
  CHECK(found[1].end == 200);
}

TEST_CASE("a second slowdown is found after the first has ended") {
  const auto found = slowdowns(800, [](std::int64_t step) {
    const bool slow = (step >= 200 && step < 260) || (step >= 600 && step < 660);
    return slow_watch_step(slow ? 0.4 : 0.2);
  });
  REQUIRE(found.size() == 4);
  CHECK(found[1].end == 260);
  CHECK(found[2].first == 600);
  CHECK(found[3].end == 660);
}

}  // namespace bench::training
