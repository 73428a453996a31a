// Launches kernel bodies on the GPU; kernels/functors/host_launch.h says what each call does. For
// nvcc alone.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "probes/backends/cuda/cuda_error.h"
#include "probes/training/backends/cuda/device_block.h"
#include "probes/training/backends/cuda/device_context.h"
#include "probes/training/backends/cuda/sort_ids.h"

namespace bench::training {

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
  template <int width, class Body>
  void rows(const Body& body, std::int64_t count) {
    if constexpr (width > 1)
      if (body.columns() % width != 0) return rows<1>(body, count);
    rows_kernel<width><<<grid((count + 7) / 8), dim3(32, 8), 0, context_.stream()>>>(body, count);
    check_launch("row kernel");
  }
  template <int width, class Body>
  void blocks(const Body& body, std::int64_t count, std::int64_t n) {
    if constexpr (width > 1)
      if (n % width != 0) return blocks<1>(body, count, n);
    blocks_kernel<width><<<grid(count), Body::kBlock, 0, context_.stream()>>>(body);
    check_launch("whole-row kernel");
  }
  template <class Body>
  void units(const Body& body, std::int64_t xs, std::int64_t ys, std::int64_t shared_bytes) {
    constexpr std::int64_t kWithoutAsking = 48 << 10;
    if (shared_bytes > kWithoutAsking)
      check(cudaFuncSetAttribute(units_kernel<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared_bytes)),
            "reserve " + std::to_string(shared_bytes) + " bytes of shared memory");
    units_kernel<<<dim3(grid(xs), grid(ys)), 128, static_cast<std::size_t>(shared_bytes),
                   context_.stream()>>>(body);
    check_launch("unit kernel");
  }
  template <class Body>
  void slabs(const Body& body, std::int64_t count, std::int64_t n) {
    slabs_kernel<<<dim3(grid((n + 127) / 128), grid(count)), 128, 0, context_.stream()>>>(body, n);
    check_launch("column sums");
  }

  void zero(void* data, std::int64_t bytes) {
    check(cudaMemsetAsync(data, 0, static_cast<std::size_t>(bytes), context_.stream()),
          "write zeros");
  }
  void* scratch(std::int64_t bytes) { return context_.scratch(bytes); }
  std::pair<const std::int32_t*, const std::int32_t*> sorted(const std::int32_t* ids,
                                                             std::int64_t count,
                                                             std::int64_t table_rows) {
    return sort_ids(context_, ids, count, table_rows);
  }
  IdFault* fault() { return context_.fault(); }
  double* result() { return context_.result(); }
  double read_result() { return context_.read_result(); }

 private:
  static unsigned grid(std::int64_t blocks) { return static_cast<unsigned>(blocks); }
  DeviceContext& context_;
};

}  // namespace bench::training
