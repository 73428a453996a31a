#include "probes/storage/emulated_step.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/order_statistics.h"
#include "probes/host_clock.h"

namespace bench::storage {
namespace {

constexpr std::size_t kWords = (4u << 20) / sizeof(double);  // past the caches of a core
constexpr int kTrials = 9;

}  // namespace

EmulatedStep::EmulatedStep(StepKind kind, Seconds length) : kind_(kind), length_(length) {
  if (kind_ == StepKind::sleep) return;
  memory_.assign(kWords, 1.0);
  pass();
  std::vector<double> trials;
  for (int i = 0; i < kTrials; ++i) {
    const Seconds begin = steady_now();
    pass();
    trials.push_back((steady_now() - begin).value);
  }
  const double passes = length_.value / std::max(median(trials), 1e-9);
  passes_ = std::max<std::int64_t>(1, std::llround(passes));
}

void EmulatedStep::pass() {
  for (double& word : memory_) word = word * 0.999999 + 1e-6;
}

Seconds EmulatedStep::run() {
  const Seconds begin = steady_now();
  if (kind_ == StepKind::sleep)
    std::this_thread::sleep_for(std::chrono::duration<double>(length_.value));
  else
    for (std::int64_t i = 0; i < passes_; ++i) pass();
  return steady_now() - begin;
}

}  // namespace bench::storage
