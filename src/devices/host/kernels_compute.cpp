#include "devices/host/kernels_compute.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "devices/host/cpu_features.h"

namespace bench {

// Tile streams of x86-64 (AMX): a 16 x 16 tile of sums takes a 16 x 64 byte tile times another.
// Four sums hide the latency of 52 cycles at one instruction each 16 cycles.

#if defined(__x86_64__)

namespace {

constexpr int kSums = 4;
constexpr std::size_t kTileBytes = 1024;

/// LDTILECFG's operand: palette 1, all eight tiles 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// The compiler never uses tile registers by itself, so they need not be named as overwritten.
#define BENCH_TILE_LOOP(name, op)                                                            \
  void name(std::int64_t iterations, const void* a, const void* b, void* out) {              \
    if (iterations <= 0) return;                                                             \
    const TileConfig config;                                                                 \
    const std::int64_t stride = 64;                                                          \
    asm volatile(                                                                            \
        "ldtilecfg %[config]\n\t"                                                            \
        "tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3\n\t"       \
        "tileloadd (%[a],%[stride],1), %%tmm6\n\t"                                           \
        "tileloadd (%[b],%[stride],1), %%tmm7\n\t"                                           \
        ".p2align 6\n"                                                                       \
        "1:\n\t" op " %%tmm7, %%tmm6, %%tmm0\n\t" op " %%tmm7, %%tmm6, %%tmm1\n\t" op        \
        " %%tmm7, %%tmm6, %%tmm2\n\t" op                                                     \
        " %%tmm7, %%tmm6, %%tmm3\n\t"                                                        \
        "decq %[n]\n\t"                                                                      \
        "jnz 1b\n\t"                                                                         \
        "tilestored %%tmm0, (%[out],%[stride],1)\n\t"                                        \
        "tilestored %%tmm1, 1024(%[out],%[stride],1)\n\t"                                    \
        "tilestored %%tmm2, 2048(%[out],%[stride],1)\n\t"                                    \
        "tilestored %%tmm3, 3072(%[out],%[stride],1)\n\t"                                    \
        "tilerelease"                                                                        \
        : [n] "+r"(iterations)                                                               \
        : [config] "m"(config), [a] "r"(a), [b] "r"(b), [out] "r"(out), [stride] "r"(stride) \
        : "cc", "memory");                                                                   \
  }

BENCH_TILE_LOOP(bf16_tile, "tdpbf16ps")
BENCH_TILE_LOOP(int8_tile, "tdpbusd")

ComputeKernel kernel(Dtype dtype, const char* instruction, int group,
                     decltype(ComputeKernel::loop) loop) {
  const double ops = 2.0 * 16 * 16 * 16 * group;
  const auto known = issue_rates(cpu_features()).tile;
  return {{dtype, "amx", instruction, ops, known.value_or(1.0 / 16), known.has_value(),
           cpu_features().under_hypervisor},
          Combination::tile,
          group,
          kSums,
          kTileBytes,
          loop};
}

}  // namespace

std::vector<ComputeKernel> tile_kernels() {
  std::vector<ComputeKernel> found;
  if (cpu_features().amx_bf16) found.push_back(kernel(Dtype::bf16, "tdpbf16ps", 2, bf16_tile));
  if (cpu_features().amx_int8) found.push_back(kernel(Dtype::int8, "tdpbusd", 4, int8_tile));
  return found;
}

#else

std::vector<ComputeKernel> tile_kernels() { return {}; }

#endif

}  // namespace bench

// Vector streams of aarch64. Twenty-four sums: up to four multiply-adds a cycle times a latency of
// up to six; thirty-two registers hold them and the factors. Cores with wider SVE units are not
// asked for more than their 128-bit rate.

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

// No core has more than four 128-bit units, but not all of them take each of these instructions.
constexpr double kMost = 4.0;

ComputeKernel kernel(Dtype dtype, const char* instruction, double ops, Combination combination,
                     int group, decltype(ComputeKernel::loop) loop) {
  return {{dtype, "neon", instruction, ops, kMost, false}, combination, group, kSums, 16, loop};
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

// Vector streams of x86-64: two multiply-adds a cycle times their latency, with some to spare, so
// that one that waits for its turn costs nothing. AVX2's sixteen registers hold twelve sums and the
// factors, enough for a latency of five. AVX-512 has 32, and Zen 5's vdpbf16ps takes six cycles:
// twelve sums leave no slack there, and did not reach two a cycle.

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

ComputeKernel kernel(Dtype dtype, const char* isa, const char* instruction, int group,
                     std::optional<double> most, std::size_t bytes,
                     decltype(ComputeKernel::loop) loop) {
  constexpr double kMostOfAny = 2.0;
  const double ops = 2.0 * static_cast<double>(bytes) / static_cast<double>(size_of(dtype));
  const int sums = bytes == 64 ? kSumsZmm : kSumsYmm;
  const InstructionStream stream{dtype,
                                 isa,
                                 instruction,
                                 ops,
                                 most.value_or(kMostOfAny),
                                 most.has_value(),
                                 cpu_features().under_hypervisor};
  return {stream, Combination::lanes, group, sums, bytes, loop};
}

}  // namespace

std::vector<ComputeKernel> vector_kernels() {
  const CpuFeatures& cpu = cpu_features();
  const IssueRates most = issue_rates(cpu);
  std::vector<ComputeKernel> found;
  if (cpu.avx512) {
    found.push_back(kernel(Dtype::f32, "avx512", "vfmadd231ps zmm", 1, most.fma512, 64, f32_zmm));
    found.push_back(kernel(Dtype::f64, "avx512", "vfmadd231pd zmm", 1, most.fma512, 64, f64_zmm));
  }
  if (cpu.avx512_bf16)
    found.push_back(kernel(Dtype::bf16, "avx512", "vdpbf16ps zmm", 2, most.bf16_512, 64, bf16_zmm));
  if (cpu.avx512_vnni)
    found.push_back(kernel(Dtype::int8, "avx512", "vpdpbusd zmm", 4, most.int8_512, 64, int8_zmm));
  if (cpu.avx2_fma) {
    found.push_back(kernel(Dtype::f32, "avx2", "vfmadd231ps ymm", 1, most.fma256, 32, f32_ymm));
    found.push_back(kernel(Dtype::f64, "avx2", "vfmadd231pd ymm", 1, most.fma256, 32, f64_ymm));
  }
  if (cpu.avx_vnni)
    found.push_back(kernel(Dtype::int8, "avx2", "vpdpbusd ymm", 4, most.int8_256, 32, int8_ymm));
  return found;
}

std::optional<MultiplyAddChain> multiply_add_chain() {
  const CpuFeatures& cpu = cpu_features();
  if (!cpu.avx2_fma) return {};
  return MultiplyAddChain{cpu.avx512 ? walk_zmm : nullptr, walk_ymm, walk_xmm};
}

}  // namespace bench

#endif

namespace bench {
namespace {

// Small numbers of both signs, with different neighbours.
int factor_a(std::size_t i) { return 1 + static_cast<int>(i % 3); }
int factor_b(std::size_t i) { return std::array{1, -2, 2, -1, 3}[i % 5]; }

template <class T>
void store(std::vector<std::byte>& bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

template <class T>
double load(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

/// The upper half of an f32; exact for small integers.
std::uint16_t bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

void store_factor(std::vector<std::byte>& bytes, std::size_t index, Dtype dtype, int value) {
  switch (dtype) {
    case Dtype::f64:
      return store(bytes, index, static_cast<double>(value));
    case Dtype::f32:
      return store(bytes, index, static_cast<float>(value));
    case Dtype::bf16:
      return store(bytes, index, bf16(static_cast<float>(value)));
    default:
      return store(bytes, index, static_cast<std::int8_t>(value));
  }
}

Dtype sum_type(Dtype factor) {
  if (factor == Dtype::f64) return Dtype::f64;
  return factor == Dtype::int8 ? Dtype::int32 : Dtype::f32;
}

double load_sum(std::span<const std::byte> bytes, std::size_t index, Dtype factor) {
  switch (sum_type(factor)) {
    case Dtype::f64:
      return load<double>(bytes, index);
    case Dtype::int32:
      return load<std::int32_t>(bytes, index);
    default:
      return load<float>(bytes, index);
  }
}

/// Calls each(a index, b index) for every product that an instruction adds to sum `index`.
template <class Each>
void for_products(const ComputeKernel& kernel, std::size_t index, const Each& each) {
  const auto group = static_cast<std::size_t>(kernel.group);
  if (kernel.combination == Combination::lanes) {
    for (std::size_t j = 0; j < group; ++j) each(index * group + j, index * group + j);
  } else if (kernel.combination == Combination::matrix2) {
    for (std::size_t k = 0; k < group; ++k) each(index / 2 * group + k, index % 2 * group + k);
  } else {
    constexpr std::size_t kSide = 16;
    const std::size_t row = kSide * group, i = index / kSide, j = index % kSide;
    for (std::size_t k = 0; k < kSide; ++k)
      for (std::size_t g = 0; g < group; ++g)
        each(i * row + k * group + g, k * row + j * group + g);
  }
}

/// Largest integer that is exact in the sums.
double exact_up_to(Dtype factor) {
  switch (sum_type(factor)) {
    case Dtype::f64:
      return 0x1p53;
    case Dtype::int32:
      return 0x1p31 - 1;
    default:
      return 0x1p24;
  }
}

}  // namespace

std::vector<ComputeKernel> compute_kernels() {
  std::vector<ComputeKernel> kernels = tile_kernels();
  std::ranges::move(vector_kernels(), std::back_inserter(kernels));
  return kernels;
}

Factors make_factors(const ComputeKernel& kernel) {
  const Dtype dtype = kernel.stream.dtype;
  Factors factors{
      std::vector<std::byte>(kernel.bytes), std::vector<std::byte>(kernel.bytes), {}, 0};
  for (std::size_t i = 0; i < kernel.bytes / size_of(dtype); ++i) {
    store_factor(factors.a, i, dtype, factor_a(i));
    store_factor(factors.b, i, dtype, factor_b(i));
  }
  double largest = 1.0;
  for (std::size_t index = 0; index < kernel.bytes / size_of(sum_type(dtype)); ++index) {
    double step = 0.0, magnitude = 0.0;
    for_products(kernel, index, [&](std::size_t a, std::size_t b) {
      step += factor_a(a) * factor_b(b);
      magnitude += factor_a(a) * std::abs(factor_b(b));
    });
    factors.step.push_back(step);
    largest = std::max(largest, magnitude);
  }
  constexpr double kLongest = 1 << 22;  // some milliseconds
  factors.most_iterations =
      static_cast<std::int64_t>(std::min(kLongest, std::floor(exact_up_to(dtype) / largest)));
  return factors;
}

double worse_deviation(double worst, double value) {
  if (std::isnan(worst)) return worst;
  return value <= worst ? worst : value;
}

double deviation(const ComputeKernel& kernel, const Factors& factors, std::int64_t iterations,
                 std::span<const std::byte> out) {
  double worst = 0.0;
  for (std::size_t i = 0; i < factors.step.size() * static_cast<std::size_t>(kernel.sums); ++i) {
    const double expected = factors.step[i % factors.step.size()] * static_cast<double>(iterations);
    worst = worse_deviation(worst, std::abs(load_sum(out, i, kernel.stream.dtype) - expected));
  }
  return worst;
}

}  // namespace bench
