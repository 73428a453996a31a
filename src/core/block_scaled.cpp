#include "core/block_scaled.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elements.h"
#include "core/error.h"

namespace bench {
namespace {

constexpr int kUe8m0Bias = 127;
constexpr int kE4m3Exponent = 8;  // of its largest number, 1.75 x 2^8
constexpr double kE2m1Largest = 6.0;
constexpr double kE4m3Largest = 448.0;

double largest_of(std::span<const double> values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Before rounding to the scale type; the smallest for a block of zeros.
double scale_for(Dtype dtype, double largest, double tensor) {
  if (dtype == Dtype::nvfp4) return largest / kE2m1Largest / tensor;
  return largest == 0.0 ? 0.0 : std::ldexp(1.0, std::ilogb(largest) - kE4m3Exponent);
}

double power_of_two(unsigned bits) {
  if (bits == 0xff) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(1.0, static_cast<int>(bits) - kUe8m0Bias);
}

}  // namespace

std::byte encode_scale(Dtype dtype, double scale) {
  if (dtype == Dtype::nvfp4) return static_cast<std::byte>(to_bits(std::abs(scale), kE4m3));
  const int exponent = scale > 0.0 ? std::ilogb(scale) : -kUe8m0Bias;
  return static_cast<std::byte>(std::clamp(exponent + kUe8m0Bias, 0, 254));
}

double decode_scale(Dtype dtype, std::byte scale) {
  static const auto ue4m3 = table<128>(kE4m3);
  const auto bits = std::to_integer<unsigned>(scale);
  return dtype == Dtype::nvfp4 ? ue4m3[bits & 0x7f] : power_of_two(bits);
}

double tensor_scale(Dtype dtype, double largest) {
  return dtype == Dtype::nvfp4 ? largest / (kE2m1Largest * kE4m3Largest) : 1.0;
}

void quantise(Dtype dtype, std::span<const double> line, double tensor,
              std::span<std::byte> elements, std::span<std::byte> scales) {
  const std::size_t block = block_of(dtype);
  if (block == 0 || line.size() % block != 0 || elements.size() != line.size() ||
      scales.size() != line.size() / block)
    throw Error(ErrorKind::internal, "a line of " + std::to_string(line.size()) +
                                         " values is not a multiple of the block size of " +
                                         std::string(to_string(dtype)));
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const auto values = line.subspan(i * block, block);
    scales[i] = encode_scale(dtype, scale_for(dtype, largest_of(values), tensor));
    const double scale = decode_scale(dtype, scales[i]) * tensor;
    for (std::size_t j = 0; j < block; ++j)
      encode(&elements[i * block + j], dtype, scale > 0.0 ? values[j] / scale : 0.0);
  }
}

}  // namespace bench
