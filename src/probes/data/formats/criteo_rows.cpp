#include "probes/data/formats/criteo_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "training/sources/criteo.h"

namespace bench::data {
namespace {

using Eight = std::uint64_t;  // eight bytes, the first one lowest

constexpr Eight each(unsigned byte) { return 0x0101010101010101u * byte; }

/// The longest line of the fast path: each field at most 8 bytes and its separator.
constexpr std::size_t kLongest = 2 + (13 + 26) * 9;

Eight load(const char* from) {
  Eight value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// Up to seven decimal digits before a tab; moves past it. False for anything else.
bool short_integer(const char*& at, std::int32_t& value) {
  const Eight text = load(at);
  const Eight apart = text ^ each('\t');
  const Eight tab = (apart - each(1)) & ~apart & each(0x80);
  if (tab == 0) return false;
  const int bits = std::countr_zero(tab) & ~7;  // of the digits
  at += bits / 8 + 1;
  if (bits == 0) {
    value = 0;
    return true;
  }
  // The digits right-aligned in eight bytes, after zeros.
  Eight digits = text << (64 - bits) | each('0') >> bits;
  const bool right =
      (digits & each(0xf0)) == each('0') && ((digits + each(6)) & each(0xf0)) == each('0');
  digits = ((digits & each(0x0f)) * 2561) >> 8;  // 10 a + b, two by two
  digits = ((digits & 0x00ff00ff00ff00ff) * 6553601) >> 16;
  digits = ((digits & 0x0000ffff0000ffff) * 42949672960001) >> 32;
  value = static_cast<std::int32_t>(digits);
  return right;
}

/// Eight hexadecimal digits and `end`, or nothing and `end`; moves past it.
bool short_word(const char*& at, char end, std::uint32_t& value) {
  if (*at == end) {
    ++at;
    value = 0;
    return true;
  }
  const Eight text = load(at);
  const Eight low = text | each(0x20);  // letters in lower case
  // Bit 7 of each byte: not below `first`.
  const auto from = [](Eight bytes, unsigned first) { return bytes + each(0x80 - first); };
  const Eight right =
      (from(text, '0') & ~from(text, '9' + 1)) | (from(low, 'a') & ~from(low, 'f' + 1));
  if (at[8] != end || (text & each(0x80)) != 0 || (right & each(0x80)) != each(0x80)) return false;
  at += 9;
  Eight digits = (low & each(0x0f)) + ((low & each(0x40)) >> 6) * 9;
  digits = (digits << 4 | digits >> 8) & 0x00ff00ff00ff00ff;
  digits = (digits << 8 | digits >> 16) & 0x0000ffff0000ffff;
  value = static_cast<std::uint32_t>(digits << 16 | digits >> 32);
  return true;
}

/// The length of a line in the common form; 0 for another line.
std::size_t short_line(const char* text, CriteoRow& row) {
  const char* at = text;
  if ((*at != '0' && *at != '1') || at[1] != '\t') return 0;
  row.label = *at - '0';
  at += 2;
  for (std::int32_t& integer : row.integers)
    if (!short_integer(at, integer)) return 0;
  for (std::size_t i = 0; i + 1 < row.words.size(); ++i)
    if (!short_word(at, '\t', row.words[i])) return 0;
  if (!short_word(at, '\n', row.words.back())) return 0;
  return static_cast<std::size_t>(at - text);
}

std::int32_t to_int32(std::int64_t value) {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, Limits::min(), Limits::max()));
}

}  // namespace

std::size_t CriteoRowReader::read(std::span<CriteoRow> rows) {
  std::size_t done = 0;
  while (done < rows.size() && !rest_.empty()) {
    const std::size_t used = rest_.size() >= kLongest ? short_line(rest_.data(), rows[done]) : 0;
    if (used > 0) {
      rest_.remove_prefix(used);
      ++number_;
    } else {
      read_slowly(rows[done]);
    }
    ++done;
  }
  return done;
}

void CriteoRowReader::read_slowly(CriteoRow& row) {
  const auto end = rest_.find('\n');
  // Including its end, because an empty line is a line too.
  const std::string_view line = rest_.substr(0, end == std::string_view::npos ? end : end + 1);
  const training::CriteoLine read = training::CriteoReader(line, path_, number_).next().value();
  row.label = read.click ? 1 : 0;
  for (std::size_t i = 0; i < row.integers.size(); ++i)
    row.integers[i] = to_int32(read.integers[i].value_or(0));
  for (std::size_t i = 0; i < row.words.size(); ++i) row.words[i] = read.words[i].value_or(0);
  skip(1);
}

void CriteoRowReader::skip(std::uint64_t lines) {
  for (; lines > 0 && !rest_.empty(); --lines, ++number_) {
    const auto end = rest_.find('\n');
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  }
}

void transform_criteo(std::span<CriteoRow> rows, std::uint32_t table_rows) {
  constexpr std::int32_t kKept = 4096;
  static const auto kLogarithms = [] {
    std::array<float, kKept> table{};
    for (std::size_t i = 0; i < table.size(); ++i)
      table[i] = static_cast<float>(std::log1p(static_cast<double>(i)));
    return table;
  }();
  for (CriteoRow& row : rows) {
    for (std::int32_t& integer : row.integers) {
      const std::int32_t count = std::max(integer, 0);
      const float value = count < kKept
                              ? kLogarithms[static_cast<std::size_t>(count)]
                              : static_cast<float>(std::log1p(static_cast<double>(count)));
      integer = std::bit_cast<std::int32_t>(value);
    }
    for (std::uint32_t& word : row.words) word %= table_rows;
  }
}

}  // namespace bench::data
