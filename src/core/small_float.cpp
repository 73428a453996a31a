#include "core/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench {

double SmallFloat::largest() const {
  const int missing = specials == Specials::one_nan ? 2 : 1;  // the last fraction of e4m3 is NaN
  const double fraction = 2.0 - std::ldexp(static_cast<double>(missing), -fraction_bits);
  return std::ldexp(fraction, highest_exponent() - bias());
}

std::uint32_t to_bits(double value, const SmallFloat& type) {
  const std::uint32_t sign =
      std::signbit(value) ? 1u << (type.exponent_bits + type.fraction_bits) : 0u;
  if (std::isnan(value)) return sign | ((1u << (type.exponent_bits + type.fraction_bits)) - 1);
  const double size = std::min(std::abs(value), type.largest());
  const int exponent = size == 0.0 ? 1 - type.bias() : std::max(std::ilogb(size), 1 - type.bias());
  // In units of the last place; nearbyint takes ties to even. A carry moves into the exponent.
  const auto fraction =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, type.fraction_bits - exponent)));
  const auto biased = static_cast<std::uint32_t>(exponent + type.bias() - 1);
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
    value = std::ldexp(fraction, 1 - type.bias() - type.fraction_bits);
  else
    value = std::ldexp((1u << type.fraction_bits) + fraction,
                       exponent - type.bias() - type.fraction_bits);
  return negative ? -value : value;
}

}  // namespace bench
