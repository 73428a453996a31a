#include "core/hostlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <unordered_map>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

struct Numbered {
  std::uint64_t number = 0;
  std::string digits;
  bool operator==(const Numbered&) const = default;
};

/// Names with a common prefix; prefixes keep their order.
struct Family {
  std::string prefix;
  bool bare = false;  // the prefix alone is a name
  std::vector<Numbered> numbers;
};

std::size_t prefix_length(const std::string& name) {
  std::size_t length = name.size();
  while (length > 0 && name.size() - length < kMaxHostDigits && is_digit(name[length - 1]))
    --length;
  return length;
}

std::vector<Family> families(const std::vector<std::string>& names) {
  std::vector<Family> result;
  std::unordered_map<std::string, std::size_t> places;
  for (const std::string& name : names) {
    const std::size_t length = prefix_length(name);
    const auto [place, is_new] = places.try_emplace(name.substr(0, length), result.size());
    if (is_new) result.push_back({place->first, false, {}});
    Family& family = result[place->second];
    if (length == name.size()) {
      family.bare = true;
      continue;
    }
    Numbered one{0, name.substr(length)};
    std::from_chars(one.digits.data(), one.digits.data() + one.digits.size(), one.number);
    family.numbers.push_back(std::move(one));
  }
  return result;
}

/// "001-003" and "007" for 1, 2, 3, 7: a range continues while the padding matches.
std::vector<std::string> ranges(const std::vector<Numbered>& numbers) {
  std::vector<std::string> result;
  for (std::size_t low = 0; low < numbers.size();) {
    std::size_t high = low;
    while (high + 1 < numbers.size() &&
           numbers[high + 1].digits ==
               fmt::format("{:0{}}", numbers[high].number + 1, numbers[low].digits.size()))
      ++high;
    result.push_back(high == low ? numbers[low].digits
                                 : numbers[low].digits + "-" + numbers[high].digits);
    low = high + 1;
  }
  return result;
}

void add_expressions(Family family, std::vector<std::string>& parts) {
  if (family.bare) parts.push_back(family.prefix);
  if (family.numbers.empty()) return;
  std::ranges::sort(family.numbers, [](const Numbered& a, const Numbered& b) {
    return std::pair(a.number, a.digits.size()) < std::pair(b.number, b.digits.size());
  });
  const auto twice = std::ranges::unique(family.numbers);
  family.numbers.erase(twice.begin(), twice.end());
  const std::string list = join(ranges(family.numbers), ",");
  parts.push_back(family.prefix + (family.numbers.size() == 1 ? list : "[" + list + "]"));
}

}  // namespace

std::string compact_hostlist(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (Family& family : families(names)) add_expressions(std::move(family), parts);
  return join(parts, ",");
}

namespace {

bool in_name(char c) { return is_digit(c) || is_letter(c) || c == '_' || c == '.' || c == '-'; }

struct Range {
  std::uint64_t low = 0;
  std::uint64_t count = 0;
  std::size_t width = 0;
};

class Parser {
 public:
  Parser(std::string_view text, std::size_t at_most) : text_(text), at_most_(at_most) {}

  std::vector<std::string> parse() {
    if (text_.empty()) refuse(0, "empty name");
    for (item(); at_ < text_.size(); item()) ++at_;  // skip the comma
    return std::move(names_);
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void item() {
    const std::size_t start = at_;
    std::vector<std::string> made = {""};
    while (at_ < text_.size() && peek() != ',') {
      made = peek() == '[' ? product(made, bracket(made.size())) : with_literal(std::move(made));
      if (made.back().size() > kMaxHostName)
        refuse(start, fmt::format("name has more than {} characters", kMaxHostName));
    }
    if (made.front().empty()) refuse(start, "empty name");
    if (!is_digit(made.front()[0]) && !is_letter(made.front()[0]))
      refuse(start, "a name must begin with a letter or digit");
    demand_room(made.size(), start);
    names_.insert(names_.end(), made.begin(), made.end());
  }

  std::vector<std::string> with_literal(std::vector<std::string> made) {
    const std::size_t start = at_;
    while (at_ < text_.size() && in_name(peek())) ++at_;
    if (at_ == start)
      refuse(at_, "'" + printable(text_.substr(at_, 1)) + "' is not allowed in a name");
    for (std::string& name : made) name += text_.substr(start, at_ - start);
    return made;
  }

  static std::vector<std::string> product(const std::vector<std::string>& heads,
                                          const std::vector<std::string>& tails) {
    std::vector<std::string> made;
    made.reserve(heads.size() * tails.size());
    for (const std::string& head : heads)
      for (const std::string& tail : tails) made.push_back(head + tail);
    return made;
  }

  /// The numbers of a bracket, to be appended to `heads` names.
  std::vector<std::string> bracket(std::size_t heads) {
    const std::size_t open = at_;
    std::vector<std::string> numbers;
    do {
      ++at_;  // skip '[' or ','
      const std::size_t start = at_;
      const Range range = read_range();
      demand_room((numbers.size() + range.count) * heads, start);
      for (std::uint64_t i = 0; i < range.count; ++i)
        numbers.push_back(fmt::format("{:0{}}", range.low + i, range.width));
    } while (peek() == ',');
    if (at_ == text_.size()) refuse(open, "bracket is not closed");
    if (peek() != ']') refuse(at_, "expected ',', '-' or ']'");
    ++at_;
    return numbers;
  }

  Range read_range() {
    const std::size_t start = at_;
    const std::string_view low = digits();
    if (peek() != '-') return {number(low), 1, low.size()};
    ++at_;
    const std::string_view high = digits();
    if (high.front() == '0' && high.size() != low.size())
      refuse(start, fmt::format("{}-{}: the bounds have different padding", low, high));
    if (number(high) < number(low))
      refuse(start, fmt::format("{}-{}: the range is reversed", low, high));
    // Counts above at_most are refused anyway; limited here to avoid overflow.
    return {number(low), std::min<std::uint64_t>(number(high) - number(low), at_most_) + 1,
            low.size()};
  }

  std::string_view digits() {
    const std::size_t start = at_;
    while (is_digit(peek())) ++at_;
    if (at_ == start)
      at_ == text_.size() ? refuse(at_, "the expression ends in a bracket")
                          : refuse(at_, "expected a number");
    if (at_ - start > kMaxHostDigits)
      refuse(start, fmt::format("number has more than {} digits", kMaxHostDigits));
    return text_.substr(start, at_ - start);
  }

  static std::uint64_t number(std::string_view digits) {
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }

  void demand_room(std::size_t more, std::size_t where) const {
    if (more > at_most_ - names_.size()) refuse(where, fmt::format("more than {} hosts", at_most_));
  }

  [[noreturn]] void refuse(std::size_t where, const std::string& what) const {
    const std::size_t from = where < 20 ? 0 : where - 20;
    throw Error(ErrorKind::input,
                fmt::format("'{}{}', position {}: {}", from == 0 ? "" : "...",
                            printable(text_.substr(from, 60)), where + 1, what),
                "use host expressions such as login,node[001-128],rack[1-2]-node[01,07-16]");
  }

  std::string_view text_;
  std::size_t at_most_;
  std::size_t at_ = 0;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> expand_hostlist(std::string_view expression, std::size_t at_most) {
  return Parser(expression, at_most).parse();
}

}  // namespace bench
