// Stream kernels for aarch64. The non-temporal store there (STNP) writes a pair of registers, so a
// vector is a pair; it is a hint, which some cores take no notice of.
#include "devices/host/stream_kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include "devices/host/stream_kernels_loops.h"

namespace bench {
namespace {

struct Neon {
  struct Type {
    float64x2_t low, high;
  };
  static constexpr std::size_t kWidth = 4;
  static Type zero() { return set(0.0); }
  static Type set(double x) { return {vdupq_n_f64(x), vdupq_n_f64(x)}; }
  static Type load(const double* p) { return {vld1q_f64(p), vld1q_f64(p + 2)}; }
  static void store(double* p, Type v) {
    vst1q_f64(p, v.low);
    vst1q_f64(p + 2, v.high);
  }
  static void stream(double* p, Type v) {
    asm volatile("stnp %q0, %q1, [%2]" : : "w"(v.low), "w"(v.high), "r"(p) : "memory");
  }
  static Type add(Type a, Type b) { return {vaddq_f64(a.low, b.low), vaddq_f64(a.high, b.high)}; }
  static Type multiply_add(Type a, Type b, Type c) {
    return {vfmaq_f64(c.low, a.low, b.low), vfmaq_f64(c.high, a.high, b.high)};
  }
  static double sum(Type v) { return vaddvq_f64(vaddq_f64(v.low, v.high)); }
  static void prefetch(const double* p) { asm volatile("prfm pldl1keep, [%0]" : : "r"(p)); }
  static void fence() { asm volatile("dmb ishst" : : : "memory"); }
};

constexpr StreamKernels kKernels = kernels_of<Neon>("NEON", true);

}  // namespace
}  // namespace bench

const bench::StreamKernels* bench::neon_stream_kernels() { return &kKernels; }
#else
const bench::StreamKernels* bench::neon_stream_kernels() { return nullptr; }
#endif
