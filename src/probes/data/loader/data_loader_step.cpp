#include "probes/data/loader/data_loader_step.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>
#include <utility>

#include "core/order_statistics.h"
#include "probes/shared/device_load.h"

namespace bench::data {

Step sleeping_step(Seconds length) {
  if (length.value <= 0.0) return [] {};
  return [length] {
    timespec until{};
    ::clock_gettime(CLOCK_MONOTONIC, &until);
    const double whole = std::floor(length.value);
    until.tv_sec += static_cast<time_t>(whole);
    until.tv_nsec += static_cast<long>((length.value - whole) * 1e9);
    if (until.tv_nsec >= 1'000'000'000) {
      until.tv_nsec -= 1'000'000'000;
      ++until.tv_sec;
    }
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  };
}

namespace {

constexpr std::int64_t kSide = 512;
constexpr int kTrials = 7;

Seconds time_of(State& state, const Step& step) {
  std::vector<double> seconds;
  for (int i = 0; i < kTrials; ++i) {
    const Seconds begun = state.device().now();
    step();
    seconds.push_back((state.device().now() - begun).value);
  }
  return {median(seconds)};
}

}  // namespace

StepOffer make_step(State& state, Seconds seconds) {
  if (state.text("step") == "sleep")
    return {LoopStep{.length = seconds, .step = sleeping_step(seconds)}, ""};
  LoadOffer offer = gemm_load(state, Dtype::f32, {kSide, kSide, kSide}, 1);
  if (!offer.load) return {{}, offer.reason};
  const auto load = std::make_shared<DeviceLoad>(std::move(*offer.load));
  const auto products = [&state, load](std::int64_t calls) {
    return [&state, load, calls] { state.device().untimed([&] { load->work(calls); }); };
  };
  // Many at once, because launching and waiting takes longer than one GEMM on a GPU.
  constexpr std::int64_t kMany = 20;
  const double one = time_of(state, products(kMany)).value / kMany;
  const auto calls = std::max<std::int64_t>(1, std::llround(seconds.value / one));
  LoopStep step{.step = products(calls), .verify = load->verify};
  step.length = time_of(state, step.step);
  return {step, ""};
}

}  // namespace bench::data
