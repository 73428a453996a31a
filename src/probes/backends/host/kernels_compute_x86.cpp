// Vector streams of x86-64: two multiply-adds a cycle times their latency, with some to spare, so
// that one that waits for its turn costs nothing. AVX2's sixteen registers hold twelve sums and the
// factors, enough for a latency of five. AVX-512 has 32, and Zen 5's vdpbf16ps takes six cycles:
// twelve sums leave no slack there, and did not reach two a cycle.
#include "probes/backends/host/cpu_features.h"
#include "probes/backends/host/kernels_compute.h"

#if defined(__x86_64__)

namespace bench {
namespace {

constexpr int kSumsYmm = 12;
constexpr int kSumsZmm = 24;

// X(op, r, register, which sum it holds); registers 14 and 15 hold the factors.
// clang-format never settles on these.
// clang-format off
#define BENCH_TWELVE(X, op, r) \
  X(op, r, 0, 0) X(op, r, 1, 1) X(op, r, 2, 2) X(op, r, 3, 3) X(op, r, 4, 4) X(op, r, 5, 5) \
  X(op, r, 6, 6) X(op, r, 7, 7) X(op, r, 8, 8) X(op, r, 9, 9) X(op, r, 10, 10) X(op, r, 11, 11)
#define BENCH_TWENTY_FOUR(X, op, r) BENCH_TWELVE(X, op, r) \
  X(op, r, 16, 12) X(op, r, 17, 13) X(op, r, 18, 14) X(op, r, 19, 15) X(op, r, 20, 16) X(op, r, 21, 17) \
  X(op, r, 22, 18) X(op, r, 23, 19) X(op, r, 24, 20) X(op, r, 25, 21) X(op, r, 26, 22) X(op, r, 27, 23)
// clang-format on
#define BENCH_CLEAR(op, r, reg, sum) op " %%" r #reg ", %%" r #reg ", %%" r #reg "\n\t"
// Operands: second factor (signed, for int8), first factor (unsigned), sum.
#define BENCH_STEP(op, r, reg, sum) op " %%" r "15, %%" r "14, %%" r #reg "\n\t"
#define BENCH_STORE(size, r, reg, sum) "vmovups %%" r #reg ", " #sum "*" size "(%[out])\n\t"

// Registers above 15 need no naming as changed: code built for every x86-64 never uses them.
#define BENCH_LOOP(name, ALL, clear, op, r, size)                                                \
  void name(std::int64_t iterations, const void* a, const void* b, void* out) {                  \
    if (iterations <= 0) return;                                                                 \
    asm volatile("vmovups (%[a]), %%" r "14\n\t"                                               \
                 "vmovups (%[b]), %%" r "15\n\t" ALL(BENCH_CLEAR, clear, r) ".p2align 6\n"     \
                 "1:\n\t" ALL(BENCH_STEP, op, r) "decq %[n]\n\t"                               \
                 "jnz 1b\n\t" ALL(BENCH_STORE, size, r) "vzeroupper"                           \
                 : [n] "+r"(iterations)                                                        \
                 : [a] "r"(a), [b] "r"(b), [out] "r"(out)                                      \
                 : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",     \
                   "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm14", "xmm15"); \
  }
#define BENCH_LOOP_YMM(name, op) BENCH_LOOP(name, BENCH_TWELVE, "vxorps", op, "ymm", "32")
#define BENCH_LOOP_ZMM(name, op) BENCH_LOOP(name, BENCH_TWENTY_FOUR, "vpxorq", op, "zmm", "64")

BENCH_LOOP_YMM(f32_ymm, "vfmadd231ps")
BENCH_LOOP_YMM(f64_ymm, "vfmadd231pd")
BENCH_LOOP_YMM(int8_ymm, "%{vex%} vpdpbusd")
BENCH_LOOP_ZMM(f32_zmm, "vfmadd231ps")
BENCH_LOOP_ZMM(f64_zmm, "vfmadd231pd")
BENCH_LOOP_ZMM(bf16_zmm, "vdpbf16ps")
BENCH_LOOP_ZMM(int8_zmm, "vpdpbusd")

#define BENCH_CHAINS(r)                                                                  \
  "vfmadd231ps %%" r "15, %%" r "14, %%" r "0\n\tvfmadd231ps %%" r "15, %%" r "14, %%" r \
  "1\n\tvfmadd231ps %%" r "15, %%" r "14, %%" r "2\n\t"
#define BENCH_WALK(name, r, chains)                                                              \
  void name(std::int64_t steps) {                                                                \
    if (steps < 4) return;                                                                       \
    asm volatile("vxorps %%xmm14, %%xmm14, %%xmm14\n\tvxorps %%xmm15, %%xmm15, %%xmm15\n\t"    \
                 "vxorps %%xmm0, %%xmm0, %%xmm0\n\tvxorps %%xmm1, %%xmm1, %%xmm1\n\t"          \
                 "vxorps %%xmm2, %%xmm2, %%xmm2\n\t"                                           \
                 "1:\n\t" chains(r) chains(r) chains(r) chains(r) "subq $4, %[n]\n\t"          \
                 "jg 1b\n\t"                                                                   \
                 "vzeroupper"                                                                  \
                 : [n] "+r"(steps)                                                             \
                 :                                                                             \
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm14", "xmm15"); \
  }
#define BENCH_ONE_CHAIN(r) "vfmadd231ps %%" r "15, %%" r "14, %%" r "0\n\t"

BENCH_WALK(walk_xmm, "xmm", BENCH_ONE_CHAIN)
BENCH_WALK(walk_ymm, "ymm", BENCH_CHAINS)
BENCH_WALK(walk_zmm, "zmm", BENCH_CHAINS)

ComputeKernel kernel(Dtype dtype, const char* isa, const char* instruction, int group, double most,
                     std::size_t bytes, decltype(ComputeKernel::loop) loop) {
  const double ops = 2.0 * static_cast<double>(bytes) / static_cast<double>(size_of(dtype));
  const int sums = bytes == 64 ? kSumsZmm : kSumsYmm;
  return {{dtype, isa, instruction, ops, most}, Combination::lanes, group, sums, bytes, loop};
}

}  // namespace

std::vector<ComputeKernel> vector_kernels() {
  const CpuFeatures& cpu = cpu_features();
  const double zmm = cpu.half_rate_avx512() ? 1.0 : 2.0;
  const double ymm = 2.0;
  std::vector<ComputeKernel> found;
  if (cpu.avx512) {
    found.push_back(kernel(Dtype::f32, "avx512", "vfmadd231ps zmm", 1, zmm, 64, f32_zmm));
    found.push_back(kernel(Dtype::f64, "avx512", "vfmadd231pd zmm", 1, zmm, 64, f64_zmm));
  }
  if (cpu.avx512_bf16)
    found.push_back(kernel(Dtype::bf16, "avx512", "vdpbf16ps zmm", 2, zmm, 64, bf16_zmm));
  if (cpu.avx512_vnni)
    found.push_back(kernel(Dtype::int8, "avx512", "vpdpbusd zmm", 4, zmm, 64, int8_zmm));
  if (cpu.avx2_fma) {
    found.push_back(kernel(Dtype::f32, "avx2", "vfmadd231ps ymm", 1, ymm, 32, f32_ymm));
    found.push_back(kernel(Dtype::f64, "avx2", "vfmadd231pd ymm", 1, ymm, 32, f64_ymm));
  }
  if (cpu.avx_vnni)
    found.push_back(kernel(Dtype::int8, "avx2", "vpdpbusd ymm", 4, ymm, 32, int8_ymm));
  return found;
}

std::optional<MultiplyAddChain> multiply_add_chain() {
  const CpuFeatures& cpu = cpu_features();
  if (!cpu.avx2_fma) return {};
  return MultiplyAddChain{cpu.avx512 ? walk_zmm : nullptr, walk_ymm, walk_xmm};
}

}  // namespace bench

#endif
