// A block of threads on the GPU, as kernel bodies see it (kernels/functors/host_block.h says how
// they are written). For nvcc alone.
#pragma once

#include "probes/training/kernels/functors/portable.h"

namespace bench::training {

template <int threads>
class DeviceBlock {
 public:
  static constexpr int kThreads = threads;
  static_assert(threads % 32 == 0 && threads <= 1024);

  template <class T>
  struct Per {
    T value;
    BENCH_BOTH T& operator()(int) { return value; }
  };

  template <class Phase>
  BENCH_BOTH void each(const Phase& phase) {
#ifdef __CUDA_ARCH__
    phase(static_cast<int>(threadIdx.x));
#endif
  }
  BENCH_BOTH void sync() {
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
  }
  /// Always the same tree.
  template <class Number>
  BENCH_BOTH Number sum(Per<Number>& x) {
    return combine(x.value, [](Number a, Number b) { return a + b; });
  }
  BENCH_BOTH float max(Per<float>& x) {
    return combine(x.value, [](float a, float b) { return a > b ? a : b; });
  }

 private:
  template <class Number, class Join>
  BENCH_BOTH Number combine(Number value, const Join& join) {
#ifdef __CUDA_ARCH__
    __shared__ Number of_warp[threads / 32];
    BENCH_UNROLL
    for (int step = 16; step > 0; step /= 2)
      value = join(value, __shfl_xor_sync(0xffffffffu, value, step));
    __syncthreads();  // threads may still read the last call's values
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[0];
    BENCH_UNROLL
    for (int warp = 1; warp < threads / 32; ++warp) value = join(value, of_warp[warp]);
#endif
    return value;
  }
};

}  // namespace bench::training
