// JSON numbers like Python's json: integers of any size, correctly rounded floats.
#include <charconv>
#include <cstdlib>
#include <string>

#include "results/mlperf/log/python_json.h"

namespace bench::mlperf {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

double rounded_decimal(std::string_view text) {
  double value = 0.0;
  const auto error = std::from_chars(text.data(), text.data() + text.size(), value).ec;
  if (error != std::errc::result_out_of_range) return value;
  return std::strtod(std::string(text).c_str(), nullptr);  // overflow to infinity, or underflow
}

std::size_t PythonJsonReader::digits_from(std::size_t begin) const {
  std::size_t end = begin;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  return end - begin;
}

bool PythonJsonReader::read_number(PythonValue* value) {
  const std::size_t begin = at_;
  std::size_t end = at_ + (peek() == '-' ? 1 : 0);
  std::size_t digits = digits_from(end);
  if (digits == 0) return fail("expected a value");
  if (text_[end] == '0') digits = 1;
  end += digits;
  bool whole = true;
  if (end < text_.size() && text_[end] == '.')
    if (const std::size_t fraction = digits_from(end + 1); fraction > 0) {
      end += 1 + fraction;
      whole = false;
    }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    std::size_t power = end + 1;
    if (power < text_.size() && (text_[power] == '+' || text_[power] == '-')) ++power;
    if (const std::size_t count = digits_from(power); count > 0) {
      end = power + count;
      whole = false;
    }
  }
  if (whole && digits > kMostDigits) return fail("an integer of more than 4300 digits");
  at_ = end;
  if (value == nullptr) return true;
  const std::string_view number = from(begin);
  std::int64_t small = 0;
  if (!whole)
    *value = PythonValue(rounded_decimal(number));
  else if (std::from_chars(number.data(), number.data() + number.size(), small).ec == std::errc())
    *value = PythonValue(small);
  else
    *value = PythonValue(PythonValue::BigInteger{std::string(number)});
  return true;
}

}  // namespace bench::mlperf
