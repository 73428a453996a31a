#include "devices/counters/counter_source.h"

#include <algorithm>

#include "core/system_files.h"

namespace bench {

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBetween = " \t:";
  std::vector<std::string_view> words;
  for (std::size_t begin = line.find_first_not_of(kBetween); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBetween, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBetween, end);
  }
  return words;
}

double number_at(const std::vector<std::string_view>& words, std::size_t index) {
  return index < words.size() ? value_of(parse_number(words[index])) : kUnread;
}

}  // namespace bench
