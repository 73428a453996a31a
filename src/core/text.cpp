#include "core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace bench {
namespace {

/// Longer words are not typos, and the distance costs length times length.
constexpr std::size_t kLongestWord = 64;

/// The decimal exponent after rounding to four significant digits: 999.96 counts as 1000.
int exponent_of(double value) {
  const std::string text = fmt::format("{:.3e}", value);
  return std::atoi(text.c_str() + text.find('e') + 1);
}

std::string with_prefix(double value, std::string_view unit, int lowest, int highest) {
  static constexpr std::array<std::string_view, 10> kPrefixes = {"n", "u", "m", "",  "k",
                                                                 "M", "G", "T", "P", "E"};
  if (value == 0.0) return fmt::format("0 {}", unit);
  const int exponent = exponent_of(value);
  const int group = exponent >= 0 ? exponent / 3 : -((2 - exponent) / 3);
  const int step = std::clamp(group, lowest, highest);
  const int decimals = std::clamp(3 - (exponent - 3 * step), 0, 12);
  return fmt::format("{:.{}f} {}{}", value / std::pow(10.0, 3 * step), decimals,
                     kPrefixes[static_cast<std::size_t>(step + 3)], unit);
}

std::string four_digits(double value) {
  if (value == std::trunc(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  const int exponent = exponent_of(value);
  if (exponent < -6 || exponent > 14) return fmt::format("{:.3e}", value);
  return fmt::format("{:.{}f}", value, std::clamp(3 - exponent, 0, 9));
}

std::string binary_size(double value) {
  static constexpr std::array<std::string_view, 7> kPrefixes = {"",   "Ki", "Mi", "Gi",
                                                                "Ti", "Pi", "Ei"};
  std::size_t step = 0;
  while (std::abs(value) >= 1024.0 && step + 1 < kPrefixes.size()) {
    value /= 1024.0;
    ++step;
  }
  return fmt::format("{} {}B", four_digits(value), kPrefixes[step]);
}

/// Edit distance in which swapping two neighbours costs one (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

/// Characters without a shape of their own that change how others are shown: marks and controls of
/// bidirectional text, which can make a fail look like a pass, separators of lines, and the
/// characters of zero width and tags that make two names look equal. `text` is one character.
bool is_invisible(std::string_view text) {
  char32_t code = static_cast<unsigned char>(text[0]) & (text.size() == 2   ? 0x1f
                                                         : text.size() == 3 ? 0x0f
                                                                            : 0x07);
  for (const char c : text.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
  const auto within = [&](char32_t first, char32_t last) { return first <= code && code <= last; };
  return code == 0x00ad || code == 0x061c || code == 0x180e || code == 0xfeff ||
         within(0x200b, 0x200f) || within(0x2028, 0x202e) || within(0x2060, 0x206f) ||
         within(0xfff9, 0xfffb) || within(0xe0000, 0xe007f);
}

/// Bytes of the well-formed printable UTF-8 character at the start of `text`; 0 when there is none.
std::size_t printable_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const std::size_t size = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (lead == 0xc2 && byte(1) < 0xa0) return 0;   // C1 controls: some terminals obey them
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;   // overlong
  if (lead == 0xed && byte(1) >= 0xa0) return 0;  // surrogate
  if (lead == 0xf0 && byte(1) < 0x90) return 0;   // overlong
  if (lead == 0xf4 && byte(1) >= 0x90) return 0;  // beyond U+10FFFF
  return is_invisible(text.substr(0, size)) ? 0 : size;
}

}  // namespace

std::string format(double value, Unit unit) {
  if (!std::isfinite(value)) return "n/a";
  switch (unit) {
    case Unit::second:
      return with_prefix(value, "s", -3, 0);
    case Unit::byte:
      return binary_size(value);
    case Unit::byte_per_second:
    case Unit::flop_per_second:
    case Unit::op_per_second:
    case Unit::hertz:
      return with_prefix(value, to_string(unit), 0, 6);
    case Unit::count:
      return four_digits(value);
    case Unit::ratio:
      return fmt::format("{:.1f} %", value * 100.0);
  }
  return "n/a";
}

std::string format(Seconds time) { return format(time.value, Unit::second); }
std::string format(Bytes size) { return format(size.value, Unit::byte); }

std::string nearest(std::string_view word, std::span<const std::string> known) {
  if (word.size() > kLongestWord) return {};
  std::string best;
  std::size_t smallest = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongestWord) continue;
    const std::size_t edits = distance(word, candidate);
    if (edits >= std::max(word.size(), candidate.size()) || edits >= smallest) continue;
    smallest = edits;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : " Did you mean '" + near + "'?";
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string printable(std::string_view text) {
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f; };
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    safe += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t size = printable_bytes(text);
    if (size == 0) safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    safe += text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return safe;
}

void hide(std::string& text, const std::string& secret) {
  constexpr std::size_t kShortest = 4;
  if (secret.size() < kShortest) return;
  for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos;)
    text.replace(at, secret.size(), "...");
}

std::string last_line(std::string_view text) {
  const auto end = text.find_last_not_of("\r\n");
  if (end == std::string_view::npos) return "";
  const auto begin = text.rfind('\n', end);
  return printable(text.substr(begin + 1, end - begin));  // npos + 1 is 0
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string to_upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> words_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  for (auto begin = text.find_first_not_of(separators); begin != std::string_view::npos;
       begin = text.find_first_not_of(separators, begin)) {
    const auto end = std::min(text.find_first_of(separators, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  return parse_as<std::int64_t>(trim(text));
}

bool contains_words(std::string_view text, std::string_view words) {
  const std::string searched = to_lower(text), parts = to_lower(words);
  return std::ranges::all_of(words_of(parts, " -_"), [&](std::string_view part) {
    return searched.find(part) != std::string::npos;
  });
}

}  // namespace bench
