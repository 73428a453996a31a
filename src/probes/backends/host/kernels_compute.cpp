#include "probes/backends/host/kernels_compute.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace bench {
namespace {

// Small, of both signs, and no two neighbours alike.
int factor_a(std::size_t i) { return 1 + static_cast<int>(i % 3); }
int factor_b(std::size_t i) { return std::array{1, -2, 2, -1, 3}[i % 5]; }

template <class T>
void store(std::vector<std::byte>& bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

template <class T>
double load(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

/// The upper half of an f32; exact for small integers.
std::uint16_t bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

void store_factor(std::vector<std::byte>& bytes, std::size_t index, Dtype dtype, int value) {
  switch (dtype) {
    case Dtype::f64:
      return store(bytes, index, static_cast<double>(value));
    case Dtype::f32:
      return store(bytes, index, static_cast<float>(value));
    case Dtype::bf16:
      return store(bytes, index, bf16(static_cast<float>(value)));
    default:
      return store(bytes, index, static_cast<std::int8_t>(value));
  }
}

Dtype sum_type(Dtype factor) {
  if (factor == Dtype::f64) return Dtype::f64;
  return factor == Dtype::int8 ? Dtype::int32 : Dtype::f32;
}

double load_sum(std::span<const std::byte> bytes, std::size_t index, Dtype factor) {
  switch (sum_type(factor)) {
    case Dtype::f64:
      return load<double>(bytes, index);
    case Dtype::int32:
      return load<std::int32_t>(bytes, index);
    default:
      return load<float>(bytes, index);
  }
}

/// Calls each(a index, b index) for every product that one instruction adds to sum `index`.
template <class Each>
void for_products(const ComputeKernel& kernel, std::size_t index, const Each& each) {
  const auto group = static_cast<std::size_t>(kernel.group);
  if (kernel.combination == Combination::lanes) {
    for (std::size_t j = 0; j < group; ++j) each(index * group + j, index * group + j);
  } else if (kernel.combination == Combination::matrix2) {
    for (std::size_t k = 0; k < group; ++k) each(index / 2 * group + k, index % 2 * group + k);
  } else {
    constexpr std::size_t kSide = 16;
    const std::size_t row = kSide * group, i = index / kSide, j = index % kSide;
    for (std::size_t k = 0; k < kSide; ++k)
      for (std::size_t g = 0; g < group; ++g)
        each(i * row + k * group + g, k * row + j * group + g);
  }
}

/// Integers up to this are exact in the sums.
double exact_up_to(Dtype factor) {
  switch (sum_type(factor)) {
    case Dtype::f64:
      return 0x1p53;
    case Dtype::int32:
      return 0x1p31 - 1;
    default:
      return 0x1p24;
  }
}

}  // namespace

std::vector<ComputeKernel> compute_kernels() {
  std::vector<ComputeKernel> kernels = tile_kernels();
  std::ranges::move(vector_kernels(), std::back_inserter(kernels));
  return kernels;
}

Factors make_factors(const ComputeKernel& kernel) {
  const Dtype dtype = kernel.stream.dtype;
  Factors factors{
      std::vector<std::byte>(kernel.bytes), std::vector<std::byte>(kernel.bytes), {}, 0};
  for (std::size_t i = 0; i < kernel.bytes / size_of(dtype); ++i) {
    store_factor(factors.a, i, dtype, factor_a(i));
    store_factor(factors.b, i, dtype, factor_b(i));
  }
  double largest = 1.0;
  for (std::size_t index = 0; index < kernel.bytes / size_of(sum_type(dtype)); ++index) {
    double step = 0.0, magnitude = 0.0;
    for_products(kernel, index, [&](std::size_t a, std::size_t b) {
      step += factor_a(a) * factor_b(b);
      magnitude += factor_a(a) * std::abs(factor_b(b));
    });
    factors.step.push_back(step);
    largest = std::max(largest, magnitude);
  }
  constexpr double kLongest = 1 << 22;  // some milliseconds
  factors.most_iterations =
      static_cast<std::int64_t>(std::min(kLongest, std::floor(exact_up_to(dtype) / largest)));
  return factors;
}

double worse_deviation(double worst, double value) {
  if (std::isnan(worst)) return worst;
  return value <= worst ? worst : value;
}

double deviation(const ComputeKernel& kernel, const Factors& factors, std::int64_t iterations,
                 std::span<const std::byte> out) {
  double worst = 0.0;
  for (std::size_t i = 0; i < factors.step.size() * static_cast<std::size_t>(kernel.sums); ++i) {
    const double expected = factors.step[i % factors.step.size()] * static_cast<double>(iterations);
    worst = worse_deviation(worst, std::abs(load_sum(out, i, kernel.stream.dtype) - expected));
  }
  return worst;
}

}  // namespace bench
