#include "devices/host/memory_errors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "devices/host/kernels_compute.h"
#include "devices/host/stream_kernels.h"

namespace bench {
namespace {

constexpr std::size_t kBlock = 512;  // elements; a few such blocks stay in the first cache
using Block = std::array<double, kBlock>;

/// Compares blocks with the result of `expect(block, first, count)`. memcmp first, which is as fast
/// as memory, since errors are rare.
template <class Expect>
double largest_error(const double* a, std::size_t n, const Expect& expect) {
  alignas(64) Block expected;
  double error = 0.0;
  for (std::size_t first = 0; first < n; first += kBlock) {
    const std::size_t count = std::min(kBlock, n - first);
    expect(expected, first, count);
    if (std::memcmp(a + first, expected.data(), count * sizeof(double)) == 0) continue;
    for (std::size_t i = 0; i < count; ++i)
      error = worse_deviation(error, std::abs(a[first + i] - expected[i]));
  }
  return error;
}

}  // namespace

std::int64_t pattern_sum(std::uint64_t first, std::size_t n) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<std::int64_t>(pattern(first + i));
  return sum;
}

double constant_error(const double* a, double value, std::size_t n) {
  return largest_error(a, n, [&](Block& block, std::size_t first, std::size_t) {
    if (first == 0) block.fill(value);
  });
}

double copy_error(const double* a, std::uint64_t first_b, std::size_t n) {
  return largest_error(a, n, [&](Block& block, std::size_t first, std::size_t count) {
    stream_kernels().fill(block.data(), first_b + first, count);
  });
}

double triad_error(const double* a, std::uint64_t first_b, std::uint64_t first_c, double s,
                   std::size_t n) {
  alignas(64) Block c;
  return largest_error(a, n, [&](Block& block, std::size_t first, std::size_t count) {
    stream_kernels().fill(block.data(), first_b + first, count);
    stream_kernels().fill(c.data(), first_c + first, count);
    for (std::size_t i = 0; i < count; ++i) block[i] += s * c[i];
  });
}

}  // namespace bench
