#include "core/elements.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace bench {

namespace {

constexpr int kBias = 1023;  // of f64, with 52 bits of fraction

/// Of normal numbers; -1023 for zero and those below the normal ones.
int f64_exponent(double value) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) - kBias;
}

/// Of a normal power.
double f64_power(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kBias) << 52);
}

}  // namespace

double SmallFloat::largest() const {
  const int missing = specials == Specials::one_nan ? 2 : 1;  // the last fraction of e4m3 is NaN
  const double fraction = 2.0 - missing * f64_power(-fraction_bits);
  return fraction * f64_power(highest_exponent() - bias());
}

std::uint32_t to_bits(double value, const SmallFloat& type) {
  const std::uint32_t sign =
      std::signbit(value) ? 1u << (type.exponent_bits + type.fraction_bits) : 0u;
  if (std::isnan(value)) return sign | ((1u << (type.exponent_bits + type.fraction_bits)) - 1);
  const double size = std::min(std::abs(value), type.largest());
  const int least = 1 - type.bias();  // the exponent of the smallest normal number
  const int exponent = std::max(f64_exponent(size), least);
  // In units of the last place. Adding 2^52 leaves no bits for a fraction, so the sum is rounded to
  // a whole number, ties to even. A carry increments the exponent.
  const double units = size * f64_power(type.fraction_bits - exponent) + 0x1p52;
  const auto fraction = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(units));
  const auto biased = static_cast<std::uint32_t>(exponent - least);
  return sign | ((biased << type.fraction_bits) + fraction);
}

double from_bits(std::uint32_t bits, const SmallFloat& type) {
  const std::uint32_t fraction = bits & ((1u << type.fraction_bits) - 1);
  const int exponent =
      static_cast<int>(bits >> type.fraction_bits & ((1u << type.exponent_bits) - 1));
  const bool negative = (bits >> (type.exponent_bits + type.fraction_bits) & 1) != 0;
  const bool all_ones = fraction == (1u << type.fraction_bits) - 1;
  double value;
  if (exponent > type.highest_exponent())
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  else if (type.specials == SmallFloat::Specials::one_nan && exponent == type.highest_exponent() &&
           all_ones)
    value = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = fraction * f64_power(1 - type.bias() - type.fraction_bits);
  else
    value = ((1u << type.fraction_bits) + fraction) *
            f64_power(exponent - type.bias() - type.fraction_bits);
  return negative ? -value : value;
}

namespace {

/// Rounds the fraction to `bits`: 7 for bf16, 10 for tf32.
float keep_fraction(double value, int bits) {
  const auto wide = static_cast<float>(value);
  std::uint32_t word = 0;
  std::memcpy(&word, &wide, sizeof word);
  const int dropped = 23 - bits;
  word += (1u << (dropped - 1)) - 1 + (word >> dropped & 1);
  word &= ~((1u << dropped) - 1);
  float result = 0.0f;
  std::memcpy(&result, &word, sizeof word);
  return result;
}

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <class T>
T get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class Read>
void each(const std::byte* from, std::size_t bytes, std::span<double> out, const Read& read) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(read(from + i * bytes));
}

float from_bf16(const std::byte* at) {
  const std::uint32_t bits = std::uint32_t{get<std::uint16_t>(at)} << 16;
  float value = 0.0f;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

void encode(std::byte* at, Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::f64:
      return put(at, value);
    case Dtype::f32:
      return put(at, static_cast<float>(value));
    case Dtype::tf32:
      return put(at, keep_fraction(value, 10));
    case Dtype::bf16: {
      std::uint32_t bits = 0;
      const float kept = keep_fraction(value, 7);
      std::memcpy(&bits, &kept, sizeof bits);
      return put(at, static_cast<std::uint16_t>(bits >> 16));
    }
    case Dtype::f16:
      return put(at, static_cast<std::uint16_t>(to_bits(value, kF16)));
    case Dtype::fp8_e4m3:
    case Dtype::mxfp8:
      return put(at, static_cast<std::uint8_t>(to_bits(value, kE4m3)));
    case Dtype::fp8_e5m2:
      return put(at, static_cast<std::uint8_t>(to_bits(value, kE5m2)));
    case Dtype::nvfp4:
      return put(at, static_cast<std::uint8_t>(to_bits(value, kE2m1)));
    case Dtype::int8:
      return put(at, static_cast<std::uint8_t>(static_cast<int>(value)));
    case Dtype::int32:
      return put(at, static_cast<std::int32_t>(value));
    case Dtype::int64:
      return put(at, static_cast<std::int64_t>(value));
  }
}

void decode(const std::byte* from, Dtype dtype, bool is_unsigned, std::span<double> out) {
  static const auto e4m3 = table<256>(kE4m3);
  static const auto e5m2 = table<256>(kE5m2);
  static const auto e2m1 = table<16>(kE2m1);
  switch (dtype) {
    case Dtype::f64:
      return each(from, 8, out, get<double>);
    case Dtype::f32:
    case Dtype::tf32:
      return each(from, 4, out, get<float>);
    case Dtype::bf16:
      return each(from, 2, out, from_bf16);
    case Dtype::f16:
      return each(from, 2, out,
                  [](const std::byte* at) { return from_bits(get<std::uint16_t>(at), kF16); });
    case Dtype::fp8_e4m3:
    case Dtype::mxfp8:
      return each(from, 1, out, [](const std::byte* at) { return e4m3[get<std::uint8_t>(at)]; });
    case Dtype::fp8_e5m2:
      return each(from, 1, out, [](const std::byte* at) { return e5m2[get<std::uint8_t>(at)]; });
    case Dtype::nvfp4:
      return each(from, 1, out,
                  [](const std::byte* at) { return e2m1[get<std::uint8_t>(at) & 0xf]; });
    case Dtype::int8:
      if (is_unsigned) return each(from, 1, out, get<std::uint8_t>);
      return each(from, 1, out, get<std::int8_t>);
    case Dtype::int32:
      return each(from, 4, out, get<std::int32_t>);
    case Dtype::int64:
      return each(from, 8, out, get<std::int64_t>);
  }
}

double rounded(double value, Dtype dtype) {
  std::array<std::byte, 8> bytes{};
  double result = 0.0;
  encode(bytes.data(), dtype, value);
  decode(bytes.data(), dtype, false, std::span(&result, 1));
  return result;
}

double unit_roundoff(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return 0x1p-53;
    case Dtype::f32:
      return 0x1p-24;
    case Dtype::tf32:
    case Dtype::f16:
      return 0x1p-11;
    case Dtype::bf16:
      return 0x1p-8;
    case Dtype::fp8_e4m3:
    case Dtype::mxfp8:
      return 0x1p-4;
    case Dtype::fp8_e5m2:
      return 0x1p-3;
    case Dtype::nvfp4:
      return 0x1p-2;
    case Dtype::int8:
    case Dtype::int32:
    case Dtype::int64:
      return 0.0;
  }
  return 0.0;
}

}  // namespace bench
