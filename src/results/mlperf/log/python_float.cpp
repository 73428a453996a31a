#include "results/mlperf/log/python_float.h"

#include <algorithm>
#include <limits>
#include <string>

#include "results/mlperf/log/python_json.h"

namespace bench::mlperf {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

/// False if an underscore is not between two digits.
bool drop_underscores(std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '_' &&
        (i == 0 || i + 1 == text.size() || !is_decimal(text[i - 1]) || !is_decimal(text[i + 1])))
      return false;
  std::erase(text, '_');
  return true;
}

std::optional<double> named_float(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  if (text == "inf" || text == "infinity") return std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return {};
}

std::size_t pass_digits(std::string_view text, std::size_t& at) {
  const std::size_t begin = at;
  while (at < text.size() && is_decimal(text[at])) ++at;
  return at - begin;
}

/// digits[.digits][e[+-]digits], or .digits...
bool is_plain_float(std::string_view text) {
  std::size_t at = 0;
  std::size_t digits = pass_digits(text, at);
  if (at < text.size() && text[at] == '.') digits += pass_digits(text, ++at);
  if (digits == 0) return false;
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  ++at;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  return pass_digits(text, at) > 0 && at == text.size();
}

}  // namespace

bool is_python_space(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x09 && byte <= 0x0d) || (byte >= 0x1c && byte <= 0x20) || byte == 0x85 ||
         byte == 0xa0;
}

std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty() && is_python_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<double> python_float(std::string_view text) {
  text = without_trailing_space(text);
  while (!text.empty() && is_python_space(text.front())) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::string number(text);
  if (!drop_underscores(number)) return {};
  const std::optional<double> magnitude =
      is_plain_float(number) ? rounded_decimal(number) : named_float(std::move(number));
  if (!magnitude) return {};
  return negative ? -*magnitude : *magnitude;
}

}  // namespace bench::mlperf
