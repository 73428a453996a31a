#include "devices/host/stream_kernels.h"

#include "devices/host/stream_kernels_loops.h"

namespace bench {
namespace {

struct Plain {
  using Type = double;
  static constexpr std::size_t kWidth = 1;
  static Type zero() { return 0.0; }
  static Type set(double x) { return x; }
  static Type load(const double* p) { return *p; }
  static void store(double* p, Type v) { *p = v; }
  static void stream(double* p, Type v) { *p = v; }
  static Type add(Type a, Type b) { return a + b; }
  static Type multiply_add(Type a, Type b, Type c) { return a * b + c; }
  static double sum(Type v) { return v; }
  static void prefetch(const double*) {}
  static void fence() {}
};

constexpr StreamKernels kPlain = kernels_of<Plain>("C++", false);

bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

}  // namespace

std::vector<const StreamKernels*> available_stream_kernels() {
  std::vector<const StreamKernels*> found;
  if (has_avx512()) found.push_back(avx512_stream_kernels());
  if (has_avx2()) found.push_back(avx2_stream_kernels());
  found.push_back(sse2_stream_kernels());
  found.push_back(neon_stream_kernels());
  found.push_back(&kPlain);
  std::erase(found, nullptr);
  return found;
}

const StreamKernels& stream_kernels() {
  static const StreamKernels* const best = available_stream_kernels().front();
  return *best;
}

}  // namespace bench
