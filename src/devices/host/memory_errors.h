// How far arrays in host memory are from the pattern they must hold.
#pragma once

#include <cstddef>
#include <cstdint>

#include "devices/memory.h"

namespace bench {

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
