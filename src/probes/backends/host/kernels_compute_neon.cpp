// Vector streams of aarch64. Twenty-four sums: up to four multiply-adds a cycle times a latency of
// up to six; thirty-two registers hold them and the factors. Cores with wider SVE units are not
// asked for more than their 128-bit rate.
#include "probes/backends/host/cpu_features.h"
#include "probes/backends/host/kernels_compute.h"

#if defined(__aarch64__)

namespace bench {
namespace {

constexpr int kSums = 24;

// clang-format never settles on this one.
// clang-format off
#define BENCH_ALL(X, op, form) \
  X(op, form, 0) X(op, form, 1) X(op, form, 2) X(op, form, 3) X(op, form, 4) X(op, form, 5) \
  X(op, form, 6) X(op, form, 7) X(op, form, 8) X(op, form, 9) X(op, form, 10) X(op, form, 11) \
  X(op, form, 12) X(op, form, 13) X(op, form, 14) X(op, form, 15) X(op, form, 16) X(op, form, 17) \
  X(op, form, 18) X(op, form, 19) X(op, form, 20) X(op, form, 21) X(op, form, 22) X(op, form, 23)
// clang-format on
#define BENCH_CLEAR(op, form, i) "movi v" #i ".16b, #0\n\t"
#define BENCH_STEP(op, form, i) op " v" #i form
#define BENCH_STORE(op, form, i) "str q" #i ", [%[out], #" #i "*16]\n\t"

#define BENCH_LOOP(name, needs, op, form)                                                         \
  __attribute__((target(needs))) void name(std::int64_t iterations, const void* a, const void* b, \
                                           void* out) {                                           \
    if (iterations <= 0) return;                                                                  \
    asm volatile("ldr q30, [%[a]]\n\tldr q31, [%[b]]\n\t" BENCH_ALL(BENCH_CLEAR, "", "")      \
                 ".p2align 6\n"                                                               \
                 "1:\n\t" BENCH_ALL(BENCH_STEP, op, form) "subs %[n], %[n], #1\n\t"           \
                 "b.ne 1b\n\t" BENCH_ALL(BENCH_STORE, "", "")                                 \
                 : [n] "+r"(iterations)                                                       \
                 : [a] "r"(a), [b] "r"(b), [out] "r"(out)                                     \
                 : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", \
                   "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19",      \
                   "v20", "v21", "v22", "v23", "v30", "v31");   \
  }

BENCH_LOOP(f32_loop, "+simd", "fmla", ".4s, v30.4s, v31.4s\n\t")
BENCH_LOOP(f64_loop, "+simd", "fmla", ".2d, v30.2d, v31.2d\n\t")
BENCH_LOOP(bf16_loop, "arch=armv8.2-a+bf16", "bfmmla", ".4s, v30.8h, v31.8h\n\t")
BENCH_LOOP(int8_matrix_loop, "arch=armv8.2-a+i8mm", "usmmla", ".4s, v30.16b, v31.16b\n\t")
BENCH_LOOP(int8_dot_loop, "arch=armv8.2-a+dotprod", "sdot", ".4s, v30.16b, v31.16b\n\t")

constexpr double kMost = 4.0;  // no core has more than four 128-bit units

ComputeKernel kernel(Dtype dtype, const char* instruction, double ops, Combination combination,
                     int group, decltype(ComputeKernel::loop) loop) {
  return {{dtype, "neon", instruction, ops, kMost}, combination, group, kSums, 16, loop};
}

}  // namespace

std::vector<ComputeKernel> vector_kernels() {
  const CpuFeatures& cpu = cpu_features();
  std::vector<ComputeKernel> found;
  if (cpu.neon) {
    found.push_back(kernel(Dtype::f32, "fmla 4s", 8, Combination::lanes, 1, f32_loop));
    found.push_back(kernel(Dtype::f64, "fmla 2d", 4, Combination::lanes, 1, f64_loop));
  }
  if (cpu.neon_bf16)
    found.push_back(kernel(Dtype::bf16, "bfmmla", 32, Combination::matrix2, 4, bf16_loop));
  if (cpu.neon_i8mm)
    found.push_back(kernel(Dtype::int8, "usmmla", 64, Combination::matrix2, 8, int8_matrix_loop));
  else if (cpu.neon_dotprod)
    found.push_back(kernel(Dtype::int8, "sdot", 32, Combination::lanes, 4, int8_dot_loop));
  return found;
}

// These cores run vector code at the same clock as any other.
std::optional<MultiplyAddChain> multiply_add_chain() { return {}; }

}  // namespace bench

#elif !defined(__x86_64__)

namespace bench {
std::vector<ComputeKernel> vector_kernels() { return {}; }
std::optional<MultiplyAddChain> multiply_add_chain() { return {}; }
}  // namespace bench

#endif
