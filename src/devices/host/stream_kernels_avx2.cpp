// Stream kernels with 256-bit vectors, compiled for AVX2 and FMA whatever the rest is compiled for.
#include "core/compiled_for.h"
#include "devices/host/memory_errors.h"
#include "devices/host/stream_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

BENCH_COMPILED_FOR("avx2,fma")
#include "devices/host/stream_kernels_loops.h"

namespace bench {
namespace {

struct Avx2 {
  using Type = __m256d;
  static constexpr std::size_t kWidth = 4;
  static Type zero() { return _mm256_setzero_pd(); }
  static Type set(double x) { return _mm256_set1_pd(x); }
  static Type load(const double* p) { return _mm256_load_pd(p); }
  static void store(double* p, Type v) { _mm256_store_pd(p, v); }
  static void stream(double* p, Type v) { _mm256_stream_pd(p, v); }
  static Type add(Type a, Type b) { return _mm256_add_pd(a, b); }
  static Type multiply_add(Type a, Type b, Type c) { return _mm256_fmadd_pd(a, b, c); }
  static double sum(Type v) {
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(half) + _mm_cvtsd_f64(_mm_unpackhi_pd(half, half));
  }
  static void prefetch(const double* p) { asm volatile("prefetcht0 %0" : : "m"(*p)); }
  static void fence() { _mm_sfence(); }
};

constexpr StreamKernels kKernels = kernels_of<Avx2>("AVX2", true);

}  // namespace
}  // namespace bench
BENCH_COMPILED_FOR_END

const bench::StreamKernels* bench::avx2_stream_kernels() { return &kKernels; }
#else
const bench::StreamKernels* bench::avx2_stream_kernels() { return nullptr; }
#endif
