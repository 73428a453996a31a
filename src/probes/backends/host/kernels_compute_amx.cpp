// Tile streams of x86-64 (AMX): a 16 x 16 tile of sums takes a 16 x 64 byte tile times another.
// Four sums hide the latency of 52 cycles at one instruction each 16 cycles.
#include "probes/backends/host/cpu_features.h"
#include "probes/backends/host/kernels_compute.h"

namespace bench {

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
  return {{dtype, "amx", instruction, ops, 1.0 / 16},
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
