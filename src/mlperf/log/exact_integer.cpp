#include "mlperf/log/exact_integer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>

namespace bench::mlperf {
namespace {

constexpr std::uint64_t kLimb = 1'000'000'000;  // a limb is below this
constexpr std::size_t kLimbDigits = 9;
using Limbs = std::vector<std::uint32_t>;

std::strong_ordering compare_limbs(const Limbs& a, const Limbs& b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return std::lexicographical_compare_three_way(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

Limbs add_limbs(const Limbs& a, const Limbs& b) {
  Limbs sum;
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()) || carry != 0; ++i) {
    carry += (i < a.size() ? a[i] : 0U) + std::uint64_t{i < b.size() ? b[i] : 0U};
    sum.push_back(static_cast<std::uint32_t>(carry % kLimb));
    carry /= kLimb;
  }
  return sum;
}

/// a - b of a >= b.
Limbs subtract_limbs(const Limbs& a, const Limbs& b) {
  Limbs difference = a;
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t taken = borrow + (i < b.size() ? b[i] : 0U);
    borrow = a[i] < taken ? 1 : 0;
    difference[i] = static_cast<std::uint32_t>(a[i] + borrow * kLimb - taken);
  }
  return difference;
}

}  // namespace

ExactInteger::ExactInteger(std::int64_t value) : negative_(value < 0) {
  // The magnitude of the lowest value does not fit in a signed type.
  auto rest = negative_ ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                        : static_cast<std::uint64_t>(value);
  for (; rest != 0; rest /= kLimb) limbs_.push_back(static_cast<std::uint32_t>(rest % kLimb));
}

void ExactInteger::trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  if (limbs_.empty()) negative_ = false;
}

ExactInteger ExactInteger::of_digits(std::string_view digits) {
  ExactInteger number;
  number.negative_ = digits.starts_with('-');
  if (number.negative_) digits.remove_prefix(1);
  digits = digits.substr(0, std::min(digits.find_first_not_of("0123456789"), digits.size()));
  while (!digits.empty()) {
    const std::size_t count = std::min(kLimbDigits, digits.size());
    std::uint32_t limb = 0;
    for (const char digit : digits.substr(digits.size() - count))
      limb = limb * 10 + static_cast<std::uint32_t>(digit - '0');
    number.limbs_.push_back(limb);
    digits.remove_suffix(count);
  }
  number.trim();
  return number;
}

ExactInteger ExactInteger::of_real(double value) {
  int exponent = 0;
  // Converts the 53-bit mantissa, then doubles it.
  const double mantissa = std::frexp(std::trunc(value), &exponent);
  constexpr int kBits = 53;
  if (exponent <= kBits) return ExactInteger(static_cast<std::int64_t>(std::trunc(value)));
  ExactInteger number(static_cast<std::int64_t>(std::ldexp(mantissa, kBits)));
  for (; exponent > kBits; --exponent) number.limbs_ = add_limbs(number.limbs_, number.limbs_);
  return number;
}

ExactInteger ExactInteger::operator-() const {
  ExactInteger number = *this;
  number.negative_ = !limbs_.empty() && !negative_;
  return number;
}

ExactInteger operator+(const ExactInteger& a, const ExactInteger& b) {
  ExactInteger sum = a;
  if (a.negative_ == b.negative_) {
    sum.limbs_ = add_limbs(a.limbs_, b.limbs_);
  } else if (compare_limbs(a.limbs_, b.limbs_) >= 0) {
    sum.limbs_ = subtract_limbs(a.limbs_, b.limbs_);
  } else {
    sum.limbs_ = subtract_limbs(b.limbs_, a.limbs_);
    sum.negative_ = b.negative_;
  }
  sum.trim();
  return sum;
}

ExactInteger operator*(const ExactInteger& a, const ExactInteger& b) {
  ExactInteger product;
  product.limbs_.assign(a.limbs_.size() + b.limbs_.size(), 0);
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs_.size() || carry != 0; ++j) {
      std::uint32_t& limb = product.limbs_[i + j];
      carry += limb + std::uint64_t{a.limbs_[i]} * (j < b.limbs_.size() ? b.limbs_[j] : 0U);
      limb = static_cast<std::uint32_t>(carry % kLimb);
      carry /= kLimb;
    }
  }
  product.negative_ = a.negative_ != b.negative_;
  product.trim();
  return product;
}

ExactInteger operator%(const ExactInteger& a, const ExactInteger& b) {
  // Long division by limbs: a digit of the quotient is found by its bits.
  constexpr int kLimbBits = 30;
  std::vector<Limbs> doubled = {b.limbs_};
  for (int bit = 1; bit < kLimbBits; ++bit)
    doubled.push_back(add_limbs(doubled.back(), doubled.back()));
  ExactInteger rest;
  for (auto limb = a.limbs_.rbegin(); limb != a.limbs_.rend(); ++limb) {
    rest.limbs_.insert(rest.limbs_.begin(), *limb);
    rest.trim();
    for (int bit = kLimbBits - 1; bit >= 0; --bit) {
      const Limbs& part = doubled[static_cast<std::size_t>(bit)];
      if (compare_limbs(rest.limbs_, part) < 0) continue;
      rest.limbs_ = subtract_limbs(rest.limbs_, part);
      rest.trim();
    }
  }
  rest.negative_ = a.negative_ && !rest.limbs_.empty();
  return rest.limbs_.empty() || rest.negative_ == b.negative_ ? rest : rest + b;
}

std::strong_ordering operator<=>(const ExactInteger& a, const ExactInteger& b) {
  if (a.negative_ != b.negative_)
    return a.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  return a.negative_ ? compare_limbs(b.limbs_, a.limbs_) : compare_limbs(a.limbs_, b.limbs_);
}

std::optional<std::int64_t> ExactInteger::small() const {
  const auto low = ExactInteger(std::numeric_limits<std::int64_t>::min());
  const auto high = ExactInteger(std::numeric_limits<std::int64_t>::max());
  if (*this < low || *this > high) return {};
  std::uint64_t magnitude = 0;
  for (auto limb = limbs_.rbegin(); limb != limbs_.rend(); ++limb)
    magnitude = magnitude * kLimb + *limb;
  return static_cast<std::int64_t>(negative_ ? std::uint64_t{0} - magnitude : magnitude);
}

double ExactInteger::real() const { return std::strtod(digits().c_str(), nullptr); }

std::string ExactInteger::digits() const {
  if (limbs_.empty()) return "0";
  std::string text = fmt::format("{}{}", negative_ ? "-" : "", limbs_.back());
  for (auto limb = std::next(limbs_.rbegin()); limb != limbs_.rend(); ++limb)
    text += fmt::format("{:09}", *limb);
  return text;
}

std::partial_ordering compare_exactly(const ExactInteger& a, double b) {
  if (!std::isfinite(b)) return 0.0 <=> b;
  const auto order = a <=> ExactInteger::of_real(b);
  return order != 0 ? order : std::trunc(b) <=> b;
}

std::partial_ordering compare_exactly(std::int64_t a, double b) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (a < -kExact || a > kExact) return compare_exactly(ExactInteger(a), b);
  return static_cast<double>(a) <=> b;
}

}  // namespace bench::mlperf
