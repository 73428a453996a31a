#include "devices/host/clock.h"

#include <algorithm>
#include <cmath>

#include "devices/host/cpu_features.h"
#include "devices/host/kernels_compute.h"
#include "devices/host_clock.h"

namespace bench {
namespace {

constexpr std::uint64_t kStart = 1;
constexpr std::uint64_t kOperand = 0x9e3779b97f4a7c15;  // odd, so that powers never become zero

#define BENCH_16(step) \
  step step step step step step step step step step step step step step step step

std::uint64_t sum(std::int64_t steps) {
  return kStart + static_cast<std::uint64_t>(steps) * kOperand;
}

#if defined(__x86_64__)

std::uint64_t walk_adds(std::int64_t steps) {
  std::uint64_t x = kStart;
  for (std::int64_t i = 0; i < steps; i += kChainUnroll)
    asm volatile(BENCH_16("addq %1, %0\n\t") : "+r"(x) : "r"(kOperand) : "cc");
  return x;
}

std::uint64_t walk_multiplies(std::int64_t steps) {
  std::uint64_t x = kStart;
  for (std::int64_t i = 0; i < steps; i += kChainUnroll)
    asm volatile(BENCH_16("imulq %1, %0\n\t") : "+r"(x) : "r"(kOperand) : "cc");
  return x;
}

std::uint64_t power(std::int64_t steps) {
  std::uint64_t result = kStart, factor = kOperand;
  for (; steps > 0; steps >>= 1, factor *= factor)
    if ((steps & 1) != 0) result *= factor;
  return result;
}

// 64-bit multiplies take 3 cycles: every Intel core since Nehalem, every AMD core since Zen.
std::vector<ClockWalk> make_chains() {
  std::vector<ClockWalk> chains;
  chains.push_back({{"add", 1.0}, walk_adds, sum});
  chains.push_back({{"multiply", 3.0}, walk_multiplies, power});
  return chains;
}

#elif defined(__aarch64__)

std::uint64_t walk_adds(std::int64_t steps) {
  std::uint64_t x = kStart;
  for (std::int64_t i = 0; i < steps; i += kChainUnroll)
    asm volatile(BENCH_16("add %0, %0, %1\n\t") : "+r"(x) : "r"(kOperand));
  return x;
}

std::uint64_t walk_xors(std::int64_t steps) {
  std::uint64_t x = kStart;
  for (std::int64_t i = 0; i < steps; i += kChainUnroll)
    asm volatile(BENCH_16("eor %0, %0, %1\n\t") : "+r"(x) : "r"(kOperand));
  return x;
}

std::uint64_t parity(std::int64_t steps) { return steps % 2 == 0 ? kStart : kStart ^ kOperand; }

// No multiply: its latency differs between cores. Both of these take one cycle on all.
std::vector<ClockWalk> make_chains() {
  std::vector<ClockWalk> chains;
  chains.push_back({{"add", 1.0}, walk_adds, sum});
  chains.push_back({{"xor", 1.0}, walk_xors, parity});
  return chains;
}

#else

std::vector<ClockWalk> make_chains() { return {}; }

#endif

/// The cost of reading the time, about 1 % of a short run.
double timer_overhead() {
  double least = 1.0;
  for (int i = 0; i < 100; ++i) {
    const double begin = steady_now().value;
    least = std::min(least, steady_now().value - begin);
  }
  return least;
}

/// Steps per second of the fastest of a few short runs: disturbances only slow them.
template <class Walk>
double fastest_rate(const Walk& walk, std::int64_t steps, int walks) {
  static const double overhead = timer_overhead();
  double best = 0.0;
  for (int i = 0; i < walks; ++i) {
    const double begin = steady_now().value;
    walk(steps);
    best = std::max(best, static_cast<double>(steps) / (steady_now().value - begin - overhead));
  }
  return best;
}

constexpr std::int64_t kClockSteps = 16384;  // about four microseconds
constexpr int kWalks = 3;
constexpr std::int64_t kVectorSteps = 2048;
constexpr int kVectorWalks = 2;
constexpr std::int64_t kTileIterations = 1024;  // twenty microseconds
constexpr int kTileWalks = 10;  // the core is still changing its clock during the first

/// Multiply-add latency in cycles: a narrow chain, which does not change the clock, against the add
/// chain. 0 if the result is not an integer.
double measured_latency(const MultiplyAddChain& chain) {
  constexpr double kTolerance = 0.04;
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    const double add = fastest_rate(host_chains().front().walk, kClockSteps, kWalks);
    const double narrow = fastest_rate(chain.walk_narrow, kClockSteps / 4, kWalks);
    const double latency = std::round(add / narrow);
    if (latency >= 2.0 && std::abs(add / narrow - latency) <= kTolerance * latency) return latency;
  }
  return 0.0;
}

/// Tile code measures its own clock, at one instruction per 16 cycles, which instruction_peak
/// checks against a chain. A chain after a GEMM is too late: the core leaves the tile clock within
/// microseconds.
class TileClock {
 public:
  explicit TileClock(const ComputeKernel& kernel)
      : kernel_(kernel),
        factors_(make_factors(kernel)),
        out_(kernel.bytes * static_cast<std::size_t>(kernel.sums)) {}

  Hertz read() {
    const double rate = fastest_rate([&](std::int64_t n) { walk(n); }, kTileIterations, kTileWalks);
    return {rate * kernel_.sums / kernel_.stream.most_per_cycle};
  }

 private:
  void walk(std::int64_t n) { kernel_.loop(n, factors_.a.data(), factors_.b.data(), out_.data()); }

  ComputeKernel kernel_;
  Factors factors_;
  std::vector<std::byte> out_;
};

}  // namespace

const std::vector<ClockWalk>& host_chains() {
  static const std::vector<ClockWalk> chains = make_chains();
  return chains;
}

std::optional<Hertz> core_clock() {
  if (host_chains().empty()) return {};
  const ClockWalk& adds = host_chains().front();
  return Hertz{fastest_rate(adds.walk, kClockSteps, kWalks) * adds.chain.cycles};
}

std::optional<Hertz> chain_clock(const std::string& isa, int walks) {
  static const std::optional<MultiplyAddChain> chain = multiply_add_chain();
  static const double latency = chain ? measured_latency(*chain) : 0.0;
  if (latency == 0.0) return core_clock();
  const bool half = isa == "avx2" || chain->walk_wide == nullptr;
  const auto walk = half ? chain->walk_half : chain->walk_wide;
  return Hertz{fastest_rate(walk, kVectorSteps, walks) * latency};
}

std::optional<Hertz> vector_clock(const std::string& isa) {
  if (isa != "amx") return chain_clock(isa, kVectorWalks);
  const std::vector<ComputeKernel> kernels = tile_kernels();
  if (kernels.empty()) return {};
  thread_local TileClock clock(kernels.front());
  return clock.read();
}

}  // namespace bench
