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

class WholeNumber {
 public:
  explicit WholeNumber(std::int64_t value = 0);
  /// Decimal digits, maybe behind a '-'; what is no digit ends them.
  static WholeNumber of_digits(std::string_view digits);
  /// Without its fraction. `value` is finite.
  static WholeNumber of_real(double value);

  WholeNumber operator-() const;
  friend WholeNumber operator+(const WholeNumber& a, const WholeNumber& b);
  friend WholeNumber operator*(const WholeNumber& a, const WholeNumber& b);
  friend std::strong_ordering operator<=>(const WholeNumber& a, const WholeNumber& b);
  friend bool operator==(const WholeNumber& a, const WholeNumber& b) = default;

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
std::optional<int> compare_exactly(const WholeNumber& a, double b);
std::optional<int> compare_exactly(std::int64_t a, double b);

}  // namespace bench::mlperf
