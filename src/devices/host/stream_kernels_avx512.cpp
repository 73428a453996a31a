// Stream kernels with 512-bit vectors, compiled for AVX-512F whatever the rest is compiled for.
#include "core/compiled_for.h"
#include "devices/host/memory_errors.h"
#include "devices/host/stream_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

BENCH_COMPILED_FOR("avx512f", "prefer-vector-width=512")
#include "devices/host/stream_kernels_loops.h"

namespace bench {
namespace {

struct Avx512 {
  using Type = __m512d;
  static constexpr std::size_t kWidth = 8;
  static Type zero() { return _mm512_setzero_pd(); }
  static Type set(double x) { return _mm512_set1_pd(x); }
  static Type load(const double* p) { return _mm512_load_pd(p); }
  static void store(double* p, Type v) { _mm512_store_pd(p, v); }
  static void stream(double* p, Type v) { _mm512_stream_pd(p, v); }
  static Type add(Type a, Type b) { return _mm512_add_pd(a, b); }
  static Type multiply_add(Type a, Type b, Type c) { return _mm512_fmadd_pd(a, b, c); }
  static double sum(Type v) {  // _mm512_reduce_add_pd draws a warning from GCC 12
    const __m256d four = _mm256_add_pd(_mm512_maskz_extractf64x4_pd(0xf, v, 0),
                                       _mm512_maskz_extractf64x4_pd(0xf, v, 1));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
  }
  static void prefetch(const double* p) { asm volatile("prefetcht0 %0" : : "m"(*p)); }
  static void fence() { _mm_sfence(); }
};

constexpr StreamKernels kKernels = kernels_of<Avx512>("AVX-512", true);

}  // namespace
}  // namespace bench
BENCH_COMPILED_FOR_END

const bench::StreamKernels* bench::avx512_stream_kernels() { return &kKernels; }
#else
const bench::StreamKernels* bench::avx512_stream_kernels() { return nullptr; }
#endif
