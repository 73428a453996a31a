#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <unordered_map>

#include "core/hostlist.h"
#include "core/text.h"

namespace bench {
namespace {

struct Numbered {
  std::uint64_t number = 0;
  std::string digits;
  bool operator==(const Numbered&) const = default;
};

/// Names with one prefix, in the order in which the prefixes were seen.
struct Family {
  std::string prefix;
  bool bare = false;  // the prefix alone is a name
  std::vector<Numbered> numbers;
};

std::size_t prefix_length(const std::string& name) {
  std::size_t length = name.size();
  while (length > 0 && name.size() - length < kMaxHostDigits && name[length - 1] >= '0' &&
         name[length - 1] <= '9')
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

/// "001-003" and "007" of 1, 2, 3, 7: as long as padding like the first gives the next.
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

}  // namespace bench
