// Loops of the instruction streams, in assembly so that what is counted is what runs: fixed
// registers, no memory accesses, enough independent sums to hide latency. Sums start at zero and
// are stored at the end; factors are small integers, so every sum is exact and known.
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

/// How an instruction combines its factor registers a and b into its sums.
enum class Combination {
  lanes,    // sum[l] += over j < group: a[l group + j] b[l group + j]
  matrix2,  // 2 x 2 sums: sum[i][j] += over k < group: a[i group + k] b[j group + k] (NEON mmla)
  tile      // 16 x 16 sums: sum[i][j] += over k, g: a[i][k group + g] b[k][j group + g] (AMX)
};

struct ComputeKernel {
  InstructionStream stream;
  Combination combination = Combination::lanes;
  int group = 1;          // factors per sum and register
  int sums = 0;           // number of sum registers
  std::size_t bytes = 0;  // of a register
  /// `iterations` times one instruction per sum register. `out`: sums x bytes.
  void (*loop)(std::int64_t iterations, const void* a, const void* b, void* out) = nullptr;

  double ops_per_iteration() const { return stream.ops * sums; }
};

/// Those supported by this machine, best first within a dtype.
std::vector<ComputeKernel> compute_kernels();

/// Empty on other architectures.
std::vector<ComputeKernel> vector_kernels();
std::vector<ComputeKernel> tile_kernels();

/// The factor registers, and the increment per iteration of each sum in a register.
struct Factors {
  std::vector<std::byte> a;
  std::vector<std::byte> b;
  std::vector<double> step;
  std::int64_t most_iterations = 0;  // with exact partial sums
};
Factors make_factors(const ComputeKernel& kernel);

/// The largest deviation of any sum in `out` after `iterations`; NaN if one is NaN.
double deviation(const ComputeKernel& kernel, const Factors& factors, std::int64_t iterations,
                 std::span<const std::byte> out);

/// The larger of two deviations; NaN if either is.
double worse_deviation(double worst, double value);

/// Three interleaved chains of dependent multiply-adds, 512 bits (null if unsupported) and 256 bits
/// wide, and one chain of 128 bits: the same latency, but the wide ones change the clock as other
/// wide code does. Three fit even cores that start one wide instruction per cycle.
struct MultiplyAddChain {
  void (*walk_wide)(std::int64_t steps) = nullptr;  // steps: a multiple of 4
  void (*walk_half)(std::int64_t steps) = nullptr;
  void (*walk_narrow)(std::int64_t steps) = nullptr;
};
/// Nothing if the clock does not depend on the width, or without fused multiply-add.
std::optional<MultiplyAddChain> multiply_add_chain();

}  // namespace bench
