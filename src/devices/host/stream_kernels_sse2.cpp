// Stream kernels with the vectors every x86-64 has.
#include "devices/host/stream_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "devices/host/stream_kernels_loops.h"

namespace bench {
namespace {

struct Sse2 {
  using Type = __m128d;
  static constexpr std::size_t kWidth = 2;
  static Type zero() { return _mm_setzero_pd(); }
  static Type set(double x) { return _mm_set1_pd(x); }
  static Type load(const double* p) { return _mm_load_pd(p); }
  static void store(double* p, Type v) { _mm_store_pd(p, v); }
  static void stream(double* p, Type v) { _mm_stream_pd(p, v); }
  static Type add(Type a, Type b) { return _mm_add_pd(a, b); }
  static Type multiply_add(Type a, Type b, Type c) { return _mm_add_pd(_mm_mul_pd(a, b), c); }
  static double sum(Type v) { return _mm_cvtsd_f64(v) + _mm_cvtsd_f64(_mm_unpackhi_pd(v, v)); }
  static void prefetch(const double* p) { asm volatile("prefetcht0 %0" : : "m"(*p)); }
  static void fence() { _mm_sfence(); }
};

constexpr StreamKernels kKernels = kernels_of<Sse2>("SSE2", true);

}  // namespace
}  // namespace bench

const bench::StreamKernels* bench::sse2_stream_kernels() { return &kKernels; }
#else
const bench::StreamKernels* bench::sse2_stream_kernels() { return nullptr; }
#endif
