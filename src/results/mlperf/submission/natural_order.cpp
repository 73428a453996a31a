#include "results/mlperf/submission/natural_order.h"

#include <algorithm>

namespace bench::mlperf {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes the leading digits of `text` and returns them without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

/// Negative, 0 or positive, like strcmp.
int compare_numbers(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

int compare_parts(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view number = take_number(a);
      if (const int order = compare_numbers(number, take_number(b)); order != 0) return order;
    } else {
      if (a.front() != b.front())
        return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front()) ? -1
                                                                                             : 1;
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return static_cast<int>(!a.empty()) - static_cast<int>(!b.empty());
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const int order = compare_parts(a, b);
  return order != 0 ? order < 0 : a < b;
}

}  // namespace bench::mlperf
