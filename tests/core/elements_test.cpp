#include "core/elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.h"

namespace bench {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::uint32_t bits_of(double value, Dtype dtype) {
  std::array<std::byte, 8> bytes{};
  encode(bytes.data(), dtype, value);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < size_of(dtype); ++i)
    bits |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  return bits;
}

double value_of(std::uint32_t bits, Dtype dtype) {
  std::array<std::byte, 4> bytes{};
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::byte>(bits >> (8 * i));
  double value = 0.0;
  decode(bytes.data(), dtype, false, std::span(&value, 1));
  return value;
}

TEST_CASE("well-known bit patterns of the small floats") {
  CHECK(bits_of(1.0, Dtype::f16) == 0x3c00);
  CHECK(bits_of(65504.0, Dtype::f16) == 0x7bff);
  CHECK(bits_of(-2.0, Dtype::f16) == 0xc000);
  CHECK(bits_of(0x1p-24, Dtype::f16) == 0x0001);
  CHECK(bits_of(1.0, Dtype::bf16) == 0x3f80);
  CHECK(bits_of(1.0, Dtype::fp8_e4m3) == 0x38);
  CHECK(bits_of(448.0, Dtype::fp8_e4m3) == 0x7e);
  CHECK(bits_of(0x1p-9, Dtype::fp8_e4m3) == 0x01);
  CHECK(bits_of(1.0, Dtype::fp8_e5m2) == 0x3c);
  CHECK(bits_of(57344.0, Dtype::fp8_e5m2) == 0x7b);
  CHECK(bits_of(0x1p-16, Dtype::fp8_e5m2) == 0x01);
}

TEST_CASE("rounding is to nearest, ties to even") {
  CHECK(rounded(1.0 + 0x1p-4, Dtype::fp8_e4m3) == 1.0);
  CHECK(rounded(1.0 + 3 * 0x1p-4, Dtype::fp8_e4m3) == 1.25);
  CHECK(rounded(1.0 + 0x1p-9, Dtype::bf16) == 1.0);
  CHECK(rounded(1.0 + 3 * 0x1p-8, Dtype::bf16) == 1.0 + 0x1p-6);
  CHECK(rounded(1.0 + 0x1p-11, Dtype::tf32) == 1.0);
  CHECK(rounded(1.0 + 3 * 0x1p-11, Dtype::tf32) == 1.0 + 0x1p-9);
  CHECK(rounded(2047.5, Dtype::f16) == 2048.0);  // the carry moves into the exponent
  CHECK(rounded(-0.1, Dtype::fp8_e5m2) == -0.09375);
}

TEST_CASE("an overflow becomes the largest number; NaN stays") {
  CHECK(rounded(1e9, Dtype::fp8_e4m3) == 448.0);
  CHECK(rounded(-1e9, Dtype::fp8_e5m2) == -57344.0);
  CHECK(rounded(1e9, Dtype::f16) == 65504.0);
  for (const Dtype dtype : {Dtype::f16, Dtype::fp8_e4m3, Dtype::fp8_e5m2})
    CHECK(std::isnan(rounded(kNaN, dtype)));
}

TEST_CASE("every pattern of a small float reads as a value that is written as that pattern") {
  for (const Dtype dtype : {Dtype::f16, Dtype::fp8_e4m3, Dtype::fp8_e5m2}) {
    const std::uint32_t patterns = size_of(dtype) == 1 ? 256 : 65536;
    int numbers = 0;
    for (std::uint32_t bits = 0; bits < patterns; ++bits) {
      const double value = value_of(bits, dtype);
      if (!std::isfinite(value)) continue;
      ++numbers;
      if (bits_of(value, dtype) != bits) FAIL(to_string(dtype) << " " << bits);
    }
    CHECK(numbers == (dtype == Dtype::f16 ? 63488 : dtype == Dtype::fp8_e4m3 ? 254 : 248));
  }
}

/// to_bits by its definition.
std::uint32_t slow_bits(double value, const SmallFloat& type) {
  const double size = std::min(std::abs(value), type.largest());
  const int exponent = size == 0.0 ? 1 - type.bias() : std::max(std::ilogb(size), 1 - type.bias());
  const double units = std::nearbyint(std::ldexp(size, type.fraction_bits - exponent));
  const auto biased = static_cast<std::uint32_t>(exponent + type.bias() - 1);
  const std::uint32_t sign =
      std::signbit(value) ? 1u << (type.exponent_bits + type.fraction_bits) : 0u;
  return sign | ((biased << type.fraction_bits) + static_cast<std::uint32_t>(units));
}

TEST_CASE("values of any size are rounded as defined: ties, below the normal numbers, and beyond") {
  constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
  for (const SmallFloat& type : {kF16, kE4m3, kE5m2, kE2m1}) {
    std::vector<double> values = {0.0, -0.0, kSmallest, 0x1p-1022, 1e300, -1e300, kInfinity};
    for (std::uint64_t i = 0; i < 200'000; ++i) {
      const std::uint64_t bits = random_bits(3, i);
      const int exponent = static_cast<int>(bits % 60) - 40;
      values.push_back(std::ldexp(random_normal(4, i), exponent));
      values.push_back(std::ldexp(static_cast<double>(bits >> 40 & 0xfff), exponent));  // with ties
    }
    for (const double value : values)
      if (to_bits(value, type) != slow_bits(value, type)) FAIL(value << " " << type.fraction_bits);
  }
}

TEST_CASE("random elements are close to standard normal and differ with seed and index") {
  double sum = 0.0, squares = 0.0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double x = random_normal(7, static_cast<std::uint64_t>(i));
    sum += x;
    squares += x * x;
  }
  CHECK(std::abs(sum / kCount) < 0.01);
  CHECK(squares / kCount == Approx(1.0).margin(0.01));
  CHECK(random_bits(1, 0) != random_bits(2, 0));
  CHECK(random_bits(1, 0) != random_bits(1, 1));
}

}  // namespace
}  // namespace bench
