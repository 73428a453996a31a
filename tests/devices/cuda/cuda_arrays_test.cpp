#include <algorithm>

#include "core/error.h"
#include "devices/cuda/cuda_memory.h"
#include "devices/cuda/stream_kernels.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

constexpr double kMiB = 1 << 20;

StreamRequest stream(MemoryKernel kernel, double bytes) {
  return {.kernel = kernel, .bytes = bytes};
}

TEST_CASE("a small set is one window, a large one is processed in windows of 8 GiB") {
  const CudaArraysLayout small = lay_out_arrays(stream(MemoryKernel::copy, 32 * kMiB));
  CHECK(small.windows == 1);
  CHECK(small.window == 2 * 1024 * 1024);  // 16 MiB of f64
  const CudaArraysLayout large = lay_out_arrays(stream(MemoryKernel::read, 32768 * kMiB));
  CHECK(large.windows == 4);
  CHECK(large.window == 1024 * 1024 * 1024);
}

TEST_CASE("windows are whole thread blocks and stay inside the working set") {
  for (const MemoryKernel kernel : {MemoryKernel::read, MemoryKernel::copy, MemoryKernel::triad})
    for (const double bytes : {1.5 * kMiB, 777 * kMiB, 12288 * kMiB, 20000 * kMiB}) {
      const CudaArraysLayout layout = lay_out_arrays(stream(kernel, bytes));
      CHECK(layout.window % kStreamGrain == 0);
      const double used =
          static_cast<double>(layout.length()) * array_count(kernel) * sizeof(double);
      CHECK(used <= bytes);
      const double grain = static_cast<double>(kStreamGrain * sizeof(double)) * array_count(kernel);
      CHECK(used > bytes - grain * static_cast<double>(layout.windows + 1));
    }
}

TEST_CASE("a set too small for a thread block of each array is refused") {
  CHECK_THROWS_AS(lay_out_arrays(stream(MemoryKernel::triad, 20000)), Error);
}

TEST_CASE("bulk copies are tried where the GPU has them, and the driver's, for plain copies") {
  const auto tries = [](StreamWay way, MemoryKernel kernel, bool evict_first, bool bulk) {
    return std::ranges::count(stream_ways(kernel, evict_first, bulk), way) == 1;
  };
  CHECK(tries(StreamWay::bulk, MemoryKernel::copy, false, true));
  CHECK_FALSE(tries(StreamWay::bulk, MemoryKernel::copy, false, false));
  CHECK_FALSE(tries(StreamWay::bulk, MemoryKernel::copy, true, true));
  CHECK_FALSE(tries(StreamWay::bulk, MemoryKernel::triad, false, true));
  CHECK(tries(StreamWay::driver, MemoryKernel::copy, false, false));
  CHECK_FALSE(tries(StreamWay::driver, MemoryKernel::copy, true, false));
  CHECK(stream_ways(MemoryKernel::read, false, true).size() == 3);
}

TEST_CASE("calls go round the windows") {
  std::vector<std::int64_t> met(5, 0), last(5, -1);
  constexpr std::int64_t kCalls = 13;
  for (std::int64_t call = 0; call < kCalls; ++call) {
    ++met[static_cast<std::size_t>(call % 5)];
    last[static_cast<std::size_t>(call % 5)] = call;
  }
  for (std::int64_t window = 0; window < 5; ++window) {
    CHECK(visits(kCalls, 5, window) == met[static_cast<std::size_t>(window)]);
    CHECK(last_visit(kCalls, 5, window) == last[static_cast<std::size_t>(window)]);
  }
  CHECK(last_visit(3, 5, 4) == -1);
}

TEST_CASE("expected elements differ from place to place and call to call, and are exact") {
  const ExpectedWindow triad{MemoryKernel::triad, 100, 5000, 7.0};
  CHECK(expected_element(triad, 3) == pattern(103) + 7.0 * pattern(5003));
  CHECK(expected_element(triad, 3) != expected_element(triad, 4));
  const ExpectedWindow copy{MemoryKernel::copy, 100, 0, 0.0};
  CHECK(expected_element(copy, 0) == pattern(100));
  CHECK(call_mark(0) != call_mark(1));
  CHECK(call_mark(0) == 2.0);
}

}  // namespace
}  // namespace bench
