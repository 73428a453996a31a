// Normal random numbers by Box-Muller, for sources whose law must be exactly normal: normal() of
// random.h is a sum of twelve numbers. Logarithm, sine and cosine are polynomials here, because
// those of C libraries differ in the last bit, and ranks compare checksums of their samples.
#pragma once

#include <cstdint>
#include <utility>

#include "training/sources/random.h"

namespace bench::training {

/// Of a number in (0, 1] that is not subnormal, to 1e-12.
double plain_log(double x);

/// Sine and cosine of a quarter of a turn times x, x in [0, 4), to 1e-12.
std::pair<double, double> plain_sine_cosine(double x);

/// Two independent standard normal numbers; uses numbers 2 * index and 2 * index + 1 of the stream.
std::pair<double, double> gaussian_pair(RandomStream stream, std::uint64_t index);

}  // namespace bench::training
