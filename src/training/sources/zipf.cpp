#include "training/sources/zipf.h"

#include <algorithm>
#include <cmath>

namespace bench::training {
namespace {

constexpr std::uint32_t kExact = 64;  // ranks with separate steps
constexpr std::uint32_t kStepsAnOctave = 32;

std::vector<std::uint32_t> step_starts(std::uint32_t rows) {
  std::vector<std::uint32_t> first;
  for (std::uint64_t rank = 0, step = 1, octave = kExact; rank < rows; rank += step) {
    if (rank == octave) {
      step = octave / kStepsAnOctave;
      octave *= 2;
    }
    first.push_back(static_cast<std::uint32_t>(rank));
  }
  first.push_back(rows);
  return first;
}

/// Sum of k^-exponent for k in (from, to], by the midpoint rule: from 64 on to 5 digits.
double mass(double from, double to, double exponent) {
  if (to - from == 1) return std::pow(to, -exponent);
  const double a = from + 0.5, b = to + 0.5;
  if (exponent == 1) return std::log(b / a);
  return (std::pow(b, 1 - exponent) - std::pow(a, 1 - exponent)) / (1 - exponent);
}

std::vector<std::uint32_t> step_weights(const std::vector<std::uint32_t>& first, double exponent) {
  std::vector<double> masses;
  for (std::size_t i = 0; i + 1 < first.size(); ++i)
    masses.push_back(mass(first[i], first[i + 1], exponent));
  return exact_weights(masses);
}

}  // namespace

Zipf::Zipf(std::uint32_t rows, double exponent)
    : first_(step_starts(rows)), weights_(step_weights(first_, exponent)), steps_(weights_.size()) {
  steps_.add(weights_);
}

double Zipf::probability(std::uint32_t rank) const {
  const auto step = static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), rank) -
                                             first_.begin() - 1);
  return weights_[step] * 0x1p-32 / (first_[step + 1] - first_[step]);
}

}  // namespace bench::training
