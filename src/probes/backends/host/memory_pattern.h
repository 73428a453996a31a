// The numbers the arrays are filled with: integers that are different for every element (up to 2^32
// of them), so that a copy to the wrong place is seen, small enough that all arithmetic on them in
// f64 is exact, and spread like random ones (a ramp or zeros would be kinder to the hardware).
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

/// |value| <= 2^31. Multiplication by an odd number maps 2^32 indices to as many values.
constexpr double pattern(std::uint64_t index) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(index) * 2654435761u);
}

/// The sum of n values; exact below 2^32 of them.
std::int64_t pattern_sum(std::uint64_t first, std::size_t n);

// The largest deviation of n values from what they must be; NaN when one of them is NaN.
double constant_error(const double* a, double value, std::size_t n);
double copy_error(const double* a, std::uint64_t first_b, std::size_t n);
double triad_error(const double* a, std::uint64_t first_b, std::uint64_t first_c, double s,
                   std::size_t n);

/// The larger of two deviations; a NaN stays.
double worse_error(double a, double b);

}  // namespace bench
