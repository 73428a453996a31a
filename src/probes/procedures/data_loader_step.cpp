#include "probes/procedures/data_loader_step.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/order_statistics.h"
#include "probes/procedures/device_load.h"

namespace bench {
namespace {

constexpr std::int64_t kSide = 512;
constexpr int kTrials = 7;

Seconds time_of(State& state, const data::Step& step) {
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
    return {LoopStep{.length = seconds, .step = data::sleeping_step(seconds)}, ""};
  LoadOffer offer = gemm_load(state, Dtype::f32, {kSide, kSide, kSide}, 1);
  if (!offer.load) return {{}, offer.reason};
  const auto load = std::make_shared<DeviceLoad>(std::move(*offer.load));
  const auto products = [&state, load](std::int64_t calls) {
    return [&state, load, calls] { state.device().untimed([&] { load->work(calls); }); };
  };
  // Many at once: enqueueing one and waiting for it is longer than a product on a GPU.
  constexpr std::int64_t kMany = 20;
  const double one = time_of(state, products(kMany)).value / kMany;
  const auto calls = std::max<std::int64_t>(1, std::llround(seconds.value / one));
  LoopStep step{.step = products(calls), .verify = load->verify};
  step.length = time_of(state, step.step);
  return {step, ""};
}

}  // namespace bench
