// Stream kernels with 512-bit vectors, compiled for AVX-512F whatever the rest is compiled for.
#include "probes/backends/host/stream_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx512f,prefer-vector-width=512")
#include "probes/backends/host/stream_kernels_loops.h"

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
    alignas(64) double lanes[kWidth];
    _mm512_store_pd(lanes, v);
    double total = 0.0;
    for (double lane : lanes) total += lane;
    return total;
  }
  static void prefetch(const double* p) { _mm_prefetch(p, _MM_HINT_T0); }
  static void fence() { _mm_sfence(); }
};

constexpr StreamKernels kKernels = kernels_of<Avx512>("AVX-512", true);

}  // namespace
}  // namespace bench
#pragma GCC pop_options

const bench::StreamKernels* bench::avx512_stream_kernels() { return &kKernels; }
#else
const bench::StreamKernels* bench::avx512_stream_kernels() { return nullptr; }
#endif
