// The loops behind the instruction streams, written in assembly so that what is counted is what
// runs: fixed registers, no memory in the loop, enough independent sums to hide the latency. A loop
// starts from zero sums and leaves them in memory; factors are small integers, so every sum is
// exact and known beforehand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "devices/instructions.h"

namespace bench {

class HostCpus;
class HostThreadWatch;

/// How one instruction combines its two factor registers a and b into its sums.
enum class Combination {
  lanes,    // sum[l] += over j < group: a[l group + j] b[l group + j]
  matrix2,  // 2 x 2 sums: sum[i][j] += over k < group: a[i group + k] b[j group + k] (NEON mmla)
  tile      // 16 x 16 sums: sum[i][j] += over k, g: a[i][k group + g] b[k][j group + g] (AMX)
};

struct ComputeKernel {
  InstructionStream stream;
  Combination combination = Combination::lanes;
  int group = 1;          // factors a sum takes from each register at a time
  int sums = 0;           // registers that hold sums
  std::size_t bytes = 0;  // of a register
  /// `iterations` times one instruction on each of the sum registers. `out`: sums x bytes.
  void (*loop)(std::int64_t iterations, const void* a, const void* b, void* out) = nullptr;

  double ops_per_iteration() const { return stream.ops * sums; }
};

/// Those this machine has, best first within a dtype.
std::vector<ComputeKernel> compute_kernels();

/// The kernels of one architecture's families; empty on another architecture.
std::vector<ComputeKernel> vector_kernels();
std::vector<ComputeKernel> tile_kernels();

/// The two factor registers, and what one iteration adds to each sum of one register.
struct Factors {
  std::vector<std::byte> a;
  std::vector<std::byte> b;
  std::vector<double> step;
  std::int64_t most_iterations = 0;  // for which every partial sum is exact
};
Factors make_factors(const ComputeKernel& kernel);

/// The largest distance of any sum in `out` from `iterations` steps; NaN where one is not a number.
double deviation(const ComputeKernel& kernel, const Factors& factors, std::int64_t iterations,
                 std::span<const std::byte> out);

/// The larger of two deviations; once it is not a number it stays so.
double worse_deviation(double worst, double value);

/// Three chains of dependent multiply-adds side by side, 512 bits wide (null where there is none)
/// and 256, and one chain of 128 bits: the same latency, but the wide ones move the clock as other
/// wide code does. Three fit even a core that starts one wide instruction a cycle.
struct MultiplyAddChain {
  void (*walk_wide)(std::int64_t steps) = nullptr;  // steps: a multiple of 4
  void (*walk_half)(std::int64_t steps) = nullptr;
  void (*walk_narrow)(std::int64_t steps) = nullptr;
};
/// Nothing where the clock does not depend on the width, or without fused multiply-add.
std::optional<MultiplyAddChain> multiply_add_chain();

}  // namespace bench
