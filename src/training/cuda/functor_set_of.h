// The functors' kernels on the GPU, for nvcc only: included by one file for each type.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "devices/cuda/cuda_error.h"
#include "training/cuda/device_context.h"
#include "training/kernels/functors/functor_groups.h"
#include "training/kernels/functors/portable.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

// A block of threads on the GPU, as kernel bodies see it. A body is written in phases: each() runs
// a piece on every thread of the block, what a thread keeps from phase to phase is Per, and sums
// over threads come between phases. So the same text also runs on the CPU, in tests.

template <int threads>
class DeviceBlock {
 public:
  static constexpr int kThreads = threads;
  static_assert(threads % 32 == 0 && threads <= 1024);

  /// A variable of each thread.
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
  /// Makes writes to shared memory visible to all threads.
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

// Launches of kernel bodies.

template <int width, class Body>
__global__ void __launch_bounds__(256) elements_kernel(Body body, std::int64_t count) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x * width;
  for (std::int64_t i = thread * width; i < count; i += step) body.template at<width>(i);
}

template <int width, class Body>
__global__ void __launch_bounds__(256) rows_kernel(Body body, std::int64_t count) {
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= count) return;
  for (std::int64_t column = threadIdx.x * width; column < body.columns();
       column += std::int64_t{blockDim.x} * width)
    body.template at<width>(row, column);
}

template <int width, class Body>
__global__ void __launch_bounds__(Body::kBlock) blocks_kernel(Body body) {
  DeviceBlock<Body::kBlock> block;
  body.template row<width>(block, std::int64_t{blockIdx.x});
}

template <class Body>
__global__ void __launch_bounds__(128) units_kernel(Body body) {
  extern __shared__ __align__(16) float shared[];
  DeviceBlock<128> block;
  body.unit(block, std::int64_t{blockIdx.x}, std::int64_t{blockIdx.y}, shared);
}

template <class Body>
__global__ void __launch_bounds__(128) slabs_kernel(Body body, std::int64_t n) {
  const std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column < n) body.slab(std::int64_t{blockIdx.y}, column);
}

class DeviceLaunch {
 public:
  explicit DeviceLaunch(DeviceContext& context) : context_(context) {}

  /// body.at<width>(i) for packs of a flat tensor; single elements if `count` is not a multiple.
  template <int width, class Body>
  void elements(const Body& body, std::int64_t count) {
    if constexpr (width > 1)
      if (count % width != 0) return elements<1>(body, count);
    constexpr std::int64_t kMostBlocks = 1 << 20;
    const std::int64_t blocks = (count / width + 255) / 256;
    elements_kernel<width>
        <<<grid(std::min(blocks, kMostBlocks)), 256, 0, context_.stream()>>>(body, count);
    check_launch("elementwise kernel");
  }
  /// body.at<width>(row, column)
  template <int width, class Body>
  void rows(const Body& body, std::int64_t count) {
    if constexpr (width > 1)
      if (body.columns() % width != 0) return rows<1>(body, count);
    rows_kernel<width><<<grid((count + 7) / 8), dim3(32, 8), 0, context_.stream()>>>(body, count);
    check_launch("row kernel");
  }
  /// body.row<width>(block, row): a block of threads for a row of n columns.
  template <int width, class Body>
  void blocks(const Body& body, std::int64_t count, std::int64_t n) {
    if constexpr (width > 1)
      if (n % width != 0) return blocks<1>(body, count, n);
    blocks_kernel<width><<<grid(count), Body::kBlock, 0, context_.stream()>>>(body);
    check_launch("whole-row kernel");
  }
  /// body.unit(block, x, y, shared): a block of threads with shared memory for each x and y.
  template <class Body>
  void units(const Body& body, std::int64_t xs, std::int64_t ys, std::int64_t shared_bytes) {
    constexpr std::int64_t kWithoutAsking = 48 << 10;
    // `shared` is aligned to 16 bytes, so the compiler reads the last floats as a whole vector,
    // past the end of what was asked for.
    shared_bytes = (shared_bytes + 15) / 16 * 16;
    if (shared_bytes > kWithoutAsking)
      check(cudaFuncSetAttribute(units_kernel<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared_bytes)),
            "reserve " + std::to_string(shared_bytes) + " bytes of shared memory");
    units_kernel<<<dim3(grid(xs), grid(ys)), 128, static_cast<std::size_t>(shared_bytes),
                   context_.stream()>>>(body);
    check_launch("unit kernel");
  }
  /// body.slab(index, column)
  template <class Body>
  void slabs(const Body& body, std::int64_t count, std::int64_t n) {
    slabs_kernel<<<dim3(grid((n + 127) / 128), grid(count)), 128, 0, context_.stream()>>>(body, n);
    check_launch("column sums");
  }

  void zero(void* data, std::int64_t bytes) {
    check(cudaMemsetAsync(data, 0, static_cast<std::size_t>(bytes), context_.stream()),
          "write zeros");
  }
  /// Memory until the next call of scratch().
  void* scratch(std::int64_t bytes) { return context_.scratch(bytes); }
  std::pair<const std::int32_t*, const std::int32_t*> sorted(const std::int32_t* ids,
                                                             std::int64_t count, std::int64_t first,
                                                             std::int64_t table_rows) {
    return sort_ids(context_, ids, count, first, table_rows);
  }
  IdFault* fault() { return context_.fault(); }
  double* result() { return context_.result(); }
  double read_result() { return context_.read_result(); }

 private:
  static unsigned grid(std::int64_t blocks) { return static_cast<unsigned>(blocks); }
  DeviceContext& context_;
};

template <class T>
KernelSet functor_set_of(DeviceContext& context) {
  KernelSet set;
  put_functors<T>(set, DeviceLaunch(context));
  return set;
}

}  // namespace bench::training
