// An integer of arbitrary size, like Python's int: logged values and rule arithmetic must stay
// exact beyond 64 bits to reproduce the official checker's comparisons.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::mlperf {

class ExactInteger {
 public:
  explicit ExactInteger(std::int64_t value = 0);
  /// Parses decimal digits with an optional '-', up to the first other character.
  static ExactInteger of_digits(std::string_view digits);
  /// Truncates. `value` must be finite.
  static ExactInteger of_real(double value);

  ExactInteger operator-() const;
  friend ExactInteger operator+(const ExactInteger& a, const ExactInteger& b);
  friend ExactInteger operator*(const ExactInteger& a, const ExactInteger& b);
  /// Python's: with the sign of `b`, which must not be 0.
  friend ExactInteger operator%(const ExactInteger& a, const ExactInteger& b);
  friend std::strong_ordering operator<=>(const ExactInteger& a, const ExactInteger& b);
  friend bool operator==(const ExactInteger& a, const ExactInteger& b) = default;

  bool negative() const { return negative_; }
  std::optional<std::int64_t> small() const;  // if it fits in 64 bits
  double real() const;                        // rounded to nearest; infinity if out of range
  std::string digits() const;

 private:
  void trim();

  bool negative_ = false;             // never of 0
  std::vector<std::uint32_t> limbs_;  // of 9 digits, the lowest first; none for 0
};

/// Without rounding; NaN is unordered.
std::partial_ordering compare_exactly(const ExactInteger& a, double b);
std::partial_ordering compare_exactly(std::int64_t a, double b);

}  // namespace bench::mlperf
