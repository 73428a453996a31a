// A whole number of any size, as Python's int: what a log gives and what rules make of it must stay
// exact past 64 bits, or a comparison comes out another way than the official checker's.
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
  /// Decimal digits, maybe behind a '-'; what is no digit ends them.
  static ExactInteger of_digits(std::string_view digits);
  /// Without its fraction. `value` is finite.
  static ExactInteger of_real(double value);

  ExactInteger operator-() const;
  friend ExactInteger operator+(const ExactInteger& a, const ExactInteger& b);
  friend ExactInteger operator*(const ExactInteger& a, const ExactInteger& b);
  friend std::strong_ordering operator<=>(const ExactInteger& a, const ExactInteger& b);
  friend bool operator==(const ExactInteger& a, const ExactInteger& b) = default;

  bool negative() const { return negative_; }
  std::optional<std::int64_t> small() const;  // where 64 bits hold it
  double real() const;                        // rounded to nearest; past the range an infinity
  std::string digits() const;

 private:
  void trim();

  bool negative_ = false;             // never of 0
  std::vector<std::uint32_t> limbs_;  // of 9 digits, the lowest first; none for 0
};

/// -1, 0 or 1 as `a` is below, equal to or above `b`, exactly; nothing for NaN.
std::optional<int> compare_exactly(const ExactInteger& a, double b);
std::optional<int> compare_exactly(std::int64_t a, double b);

}  // namespace bench::mlperf
