// Text: values with unit prefixes such as "GB/s", suggestions for misspelt names, and what C++
// lacks for splitting and reading strings. Only ASCII is changed or recognised, whatever the
// locale.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"

namespace bench {

/// "113.6 GFLOP/s", "17.8 us", "64 KiB" for bytes, "3.69 GHz", "97.2 %" for a ratio, "n/a" for NaN.
/// Four significant digits; decimal prefixes for rates, binary ones for sizes.
std::string format(double value, Unit unit);
std::string format(Seconds time);
std::string format(Bytes size);

/// The known word nearest to `word` by edit distance if it is near enough to be a typo; else "".
std::string nearest(std::string_view word, std::span<const std::string> known);
/// " Did you mean 'x'?" or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Makes external text safe to show, on a terminal, page or in Markdown: control characters, bytes
/// that are no UTF-8, and characters that are invisible or reverse the direction become "\xNN".
std::string printable(std::string_view text);

/// Replaces each occurrence of a secret. One of less than four characters stays: it would also be
/// found in words that have nothing to do with it.
void hide(std::string& text, const std::string& secret);

/// The last line of `text` that is not empty, safe to print.
std::string last_line(std::string_view text);

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);

inline constexpr std::string_view kBlanks = " \t\r\n\v\f";
/// Without blanks at either end.
std::string_view trim(std::string_view text);
/// The non-empty parts of a text between separators. They refer to the text, which must outlive
/// them.
std::vector<std::string_view> words_of(std::string_view text,
                                       std::string_view separators = kBlanks);
std::vector<std::string_view> words_of(std::string&& text, std::string_view = {}) = delete;

/// Whether the text contains every part of `words`, split at ' ', '-' and '_', ignoring case.
bool contains_words(std::string_view text, std::string_view words);

/// The number that is the whole text; nothing for any other text, or a number out of range.
template <class Number>
std::optional<Number> parse_as(std::string_view text, int base = 10) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}
/// An integer in base 10, with blanks around it or without.
std::optional<std::int64_t> parse_number(std::string_view text);

}  // namespace bench
