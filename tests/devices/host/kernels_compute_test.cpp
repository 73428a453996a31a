#include "devices/host/kernels_compute.h"

#include <cmath>
#include <cstring>

#include "devices/host/clock.h"
#include "devices/host/cpu_features.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

struct KernelRun {
  explicit KernelRun(const ComputeKernel& k)
      : kernel(k), factors(make_factors(k)), out(k.bytes * static_cast<std::size_t>(k.sums)) {}
  double deviation_after(std::int64_t ran, std::int64_t claimed) {
    kernel.loop(ran, factors.a.data(), factors.b.data(), out.data());
    return deviation(kernel, factors, claimed, out);
  }
  ComputeKernel kernel;
  Factors factors;
  std::vector<std::byte> out;
};

TEST_CASE("every loop this machine has leaves exactly the sums so many iterations must give") {
  for (const ComputeKernel& kernel : compute_kernels()) {
    INFO(kernel.stream.instruction);
    KernelRun run(kernel);
    for (const std::int64_t iterations : {1, 2, 1000})
      CHECK(run.deviation_after(iterations, iterations) == 0.0);
    CHECK(run.deviation_after(run.factors.most_iterations, run.factors.most_iterations) == 0.0);
  }
}

TEST_CASE("a loop that did one iteration less than it claims is found") {
  for (const ComputeKernel& kernel : compute_kernels()) {
    INFO(kernel.stream.instruction);
    CHECK(KernelRun(kernel).deviation_after(999, 1000) > 0.0);
  }
}

TEST_CASE("a single flipped bit in any sum is found, a NaN too") {
  for (const ComputeKernel& kernel : compute_kernels()) {
    INFO(kernel.stream.instruction);
    KernelRun run(kernel);
    REQUIRE(run.deviation_after(1000, 1000) == 0.0);
    run.out.back() ^= std::byte{1};
    CHECK(deviation(kernel, run.factors, 1000, run.out) > 0.0);
    if (is_integer(kernel.stream.dtype)) continue;
    std::memset(run.out.data(), 0xff, 8);
    CHECK(std::isnan(deviation(kernel, run.factors, 1000, run.out)));
  }
}

TEST_CASE("a deviation that is not a number is not forgotten") {
  CHECK(std::isnan(worse_deviation(std::nan(""), 1.0)));
  CHECK(std::isnan(worse_deviation(1.0, std::nan(""))));
  CHECK(worse_deviation(1.0, 2.0) == 2.0);
}

TEST_CASE("an instruction of w bytes counts two operations for each pair of factors") {
  for (const ComputeKernel& kernel : compute_kernels()) {
    if (kernel.combination != Combination::lanes) continue;
    INFO(kernel.stream.instruction);
    CHECK(kernel.stream.ops ==
          2.0 * static_cast<double>(kernel.bytes / size_of(kernel.stream.dtype)));
  }
}

TEST_CASE("a machine with wide vectors has a stream for f32 and f64") {
  const CpuFeatures& cpu = cpu_features();
  if (!cpu.avx2_fma && !cpu.neon) return;
  int found = 0;
  for (const ComputeKernel& kernel : compute_kernels())
    if (kernel.stream.dtype == Dtype::f32 || kernel.stream.dtype == Dtype::f64) ++found;
  CHECK(found >= 2);
}

TEST_CASE("each chain ends where so many steps must bring it, and nowhere else") {
  for (const ClockWalk& chain : host_chains()) {
    INFO(chain.chain.name);
    for (const std::int64_t steps : {16, 32, 4096})
      CHECK(chain.walk(steps) == chain.expected(steps));
  }
  for (const ClockWalk& chain : host_chains())
    if (chain.chain.name != "xor") CHECK(chain.walk(4096) != chain.expected(4096 + 16));
}

TEST_CASE("the clock read is one a core can have") {
  if (host_chains().empty()) return;
  for (const auto& clock : {core_clock(), vector_clock("avx512"), vector_clock("avx2")}) {
    REQUIRE(clock);
    CHECK(clock->value > 1e8);
    CHECK(clock->value < 8e9);
  }
}

}  // namespace
}  // namespace bench
