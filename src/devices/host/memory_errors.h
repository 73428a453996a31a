// Deviation of arrays in host memory from their expected pattern.
#pragma once

#include <cstddef>
#include <cstdint>

#include "devices/memory.h"

namespace bench {

/// Sum of n values; exact for fewer than 2^32.
std::int64_t pattern_sum(std::uint64_t first, std::size_t n);

// The largest deviation of n values; NaN if one of them is NaN.
double constant_error(const double* a, double value, std::size_t n);
double copy_error(const double* a, std::uint64_t first_b, std::size_t n);
double triad_error(const double* a, std::uint64_t first_b, std::uint64_t first_c, double s,
                   std::size_t n);

}  // namespace bench
