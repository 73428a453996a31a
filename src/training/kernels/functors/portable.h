// Types and macros for kernel bodies that compile for CPU and GPU: tests run the same bodies on the
// CPU and compare them with the host's kernels.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define BENCH_BOTH __host__ __device__
#define BENCH_UNROLL _Pragma("unroll")
#else
#define BENCH_BOTH
#define BENCH_UNROLL
#endif

namespace bench::training {

/// The upper half of an f32; arithmetic is done in f32.
struct Bf16 {
  std::uint16_t bits = 0;

  Bf16() = default;
  /// To nearest, ties to even; NaN stays NaN.
  BENCH_BOTH explicit Bf16(float value) {
#ifdef __CUDA_ARCH__
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#else
    std::uint32_t word = 0;
    memcpy(&word, &value, sizeof word);
    const bool nan = (word & 0x7fffffffu) > 0x7f800000u;
    word += 0x7fffu + ((word >> 16) & 1u);
    bits = nan ? std::uint16_t{0x7fff} : static_cast<std::uint16_t>(word >> 16);
#endif
  }
  BENCH_BOTH explicit operator float() const {
    const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16;
    float value = 0.0f;
    memcpy(&value, &word, sizeof value);
    return value;
  }
  friend BENCH_BOTH bool operator==(Bf16 a, Bf16 b) { return a.bits == b.bits; }
};
static_assert(sizeof(Bf16) == 2);

/// IEEE 754's binary16: 11 bits, from 2^-24 to 65504; arithmetic is done in f32.
struct F16 {
  std::uint16_t bits = 0;

  F16() = default;
  /// To nearest, ties to even; infinite beyond 65504; NaN stays NaN.
  BENCH_BOTH explicit F16(float value) {
#ifdef __CUDA_ARCH__
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#else
    std::uint32_t word = 0, rounded = 0;
    memcpy(&word, &value, sizeof word);
    const std::uint32_t sign = word >> 16 & 0x8000u;
    word &= 0x7fffffffu;
    // Below 2^-14 the last bit stays 2^-24, which is that of an f32 from 0.5 on.
    float small = 0.0f;
    memcpy(&small, &word, sizeof small);
    small += 0.5f;
    memcpy(&rounded, &small, sizeof rounded);
    const std::uint32_t subnormal = rounded - 0x3f000000u;
    const std::uint32_t normal = (word + 0xfffu + (word >> 13 & 1u) - (112u << 23)) >> 13;
    const std::uint32_t finite = word < 0x38800000u ? subnormal : normal;
    const std::uint32_t beyond = word > 0x7f800000u ? 0x7fffu : 0x7c00u;
    bits = static_cast<std::uint16_t>(sign | (word < 0x47800000u ? finite : beyond));
#endif
  }
  BENCH_BOTH explicit operator float() const {
    float value = 0.0f;
#ifdef __CUDA_ARCH__
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
#else
    std::uint32_t word = (bits & 0x7fffu) << 13;
    memcpy(&value, &word, sizeof value);
    value *= 0x1p112f;  // corrects the exponent's bias
    memcpy(&word, &value, sizeof word);
    if ((bits & 0x7c00u) == 0x7c00u) word |= 0x7f800000u;
    word |= (bits & 0x8000u) << 16;
    memcpy(&value, &word, sizeof value);
#endif
    return value;
  }
  friend BENCH_BOTH bool operator==(F16 a, F16 b) { return a.bits == b.bits; }
};
static_assert(sizeof(F16) == 2);

/// Adjacent elements, moved by one load or store; the address is a multiple of their size.
template <class T, int width>
struct alignas(sizeof(T) * width) Pack {
  T at[width];
};

template <int width, class T>
BENCH_BOTH Pack<T, width> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, width>*>(from);
}

template <class T, int width>
BENCH_BOTH void store_pack(T* to, const Pack<T, width>& pack) {
  *reinterpret_cast<Pack<T, width>*>(to) = pack;
}

/// Elements in 16 bytes, the widest access of a GPU thread.
template <class T>
constexpr int kWidest = 16 / static_cast<int>(sizeof(T));

/// The values that a result is added to; zeros if `add` is false.
template <int width, class T>
BENCH_BOTH Pack<T, width> load_if(bool add, const T* from) {
  if (add) return load_pack<width>(from);
  Pack<T, width> zeros;
  BENCH_UNROLL
  for (int i = 0; i < width; ++i) zeros.at[i] = T(0.0f);
  return zeros;
}

}  // namespace bench::training
