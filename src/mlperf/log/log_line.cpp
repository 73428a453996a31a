#include "mlperf/log/log_line.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "core/mllog.h"
#include "core/text.h"
#include "mlperf/log/python_json.h"

namespace bench::mlperf {
namespace {

/// White space by str.strip() in Latin-1.
bool is_python_space(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x09 && byte <= 0x0d) || (byte >= 0x1c && byte <= 0x20) || byte == 0x85 ||
         byte == 0xa0;
}

std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty() && is_python_space(text.back())) text.remove_suffix(1);
  return text;
}

/// False if an underscore is not between two digits.
bool drop_underscores(std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '_' &&
        (i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]) || !is_digit(text[i + 1])))
      return false;
  std::erase(text, '_');
  return true;
}

std::optional<double> named_float(std::string_view text) {
  const std::string name = to_lower(text);
  if (name == "inf" || name == "infinity") return std::numeric_limits<double>::infinity();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  return {};
}

std::size_t pass_digits(std::string_view text, std::size_t& at) {
  const std::size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
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

std::optional<double> python_float(std::string_view text) {
  text = without_trailing_space(text);
  while (!text.empty() && is_python_space(text.front())) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::string number(text);
  if (!drop_underscores(number)) return {};
  const std::optional<double> magnitude =
      is_plain_float(number) ? rounded_decimal(number) : named_float(number);
  if (!magnitude) return {};
  return negative ? -*magnitude : *magnitude;
}

namespace {

constexpr std::size_t kShown = 60;  // bytes shown of an invalid line

enum Field { kTime, kKey, kValue, kMetadata, kEventType, kFields };
constexpr std::array<std::string_view, kFields> kNames = {"time_ms", "key", "value", "metadata",
                                                          "event_type"};

/// A string of a line, or another value.
struct Text {
  bool is_string = false;
  std::string_view text = {};  // "" of another value
  std::string escaped = {};    // what `text` points to if the string has escape sequences
};

/// The relevant fields of a line. `value` and `metadata` are not parsed if the preceding key is one
/// whose lines are skipped.
struct Fields {
  std::array<bool, kFields> present = {};
  PythonValue time = {}, value = {}, metadata = {};
  Text key = {}, event_type = {};
  std::string_view waiting_value = {}, waiting_metadata = {};

  bool unwanted() const { return present[kKey] && (!key.is_string || left_out_key(key.text)); }
};

struct LineOutcome {
  bool wanted = false;  // the entry is set, except for its position
  std::optional<LineError> error = {};
  std::string why = {};  // safe to print
};

LineOutcome refused(LineError error, std::string why) { return {false, error, std::move(why)}; }

LineOutcome refused(const PythonJsonReader& reader, std::string_view body) {
  const std::string place = std::string(reader.error()) + " at byte " +
                            std::to_string(reader.at() + 1) + " after the token";
  if (reader.too_deep()) return refused(LineError::crash, "the JSON is " + place);
  const std::string_view seen = body.substr(reader.at(), kShown);
  return refused(LineError::parse_error,
                 "invalid JSON: " + place +
                     (seen.empty() ? ", at the end of the line" : ": " + printable(seen)));
}

/// The field for a key; kFields for any other.
Field field_named(std::string_view name) {
  for (int field = 0; field < kFields; ++field)
    if (kNames[static_cast<std::size_t>(field)] == name) return static_cast<Field>(field);
  return kFields;
}

bool read(PythonJsonReader& reader, Text& text) {
  text.is_string = reader.peek() == '"';
  text.text = {};
  return text.is_string ? reader.read_text(text.text, text.escaped) : reader.read(nullptr);
}

/// Of a line that is not wanted, as far as is known, only `waiting` is set.
bool read(PythonJsonReader& reader, bool unwanted, PythonValue& value, std::string_view& waiting) {
  waiting = {};
  if (!unwanted) return reader.read(&value);
  const std::size_t begin = reader.at();
  if (!reader.read(nullptr)) return false;
  waiting = reader.from(begin);
  return true;
}

bool read_field(PythonJsonReader& reader, Fields& fields) {
  reader.skip_space();
  if (reader.peek() != '"') return reader.fail("expected a key in double quotes");
  std::string_view name;
  std::string escaped;
  if (!reader.read_text(name, escaped)) return false;
  if (!reader.take(':')) return reader.fail("expected ':'");
  reader.skip_space();
  const Field field = field_named(name);
  if (field != kFields) fields.present[field] = true;
  switch (field) {
    case kTime:
      return reader.read(&fields.time);
    case kKey:
      return read(reader, fields.key);
    case kEventType:
      return read(reader, fields.event_type);
    case kValue:
      return read(reader, fields.unwanted(), fields.value, fields.waiting_value);
    case kMetadata:
      return read(reader, fields.unwanted(), fields.metadata, fields.waiting_metadata);
    case kFields:
      break;
  }
  return reader.read(nullptr);
}

bool read_fields(PythonJsonReader& reader, Fields& fields) {
  if (!reader.enter()) return false;
  reader.take('{');
  if (!reader.take('}')) {
    do {
      if (!read_field(reader, fields)) return false;
    } while (reader.take(','));
    if (!reader.take('}')) return reader.fail("expected ',' or '}'");
  }
  reader.skip_space();
  return reader.at_end() || reader.fail("unexpected text after the object");
}

/// A JSON line that is not an object.
LineOutcome no_object(PythonJsonReader& reader, std::string_view body) {
  PythonValue value;
  if (!reader.read(&value)) return refused(reader, body);
  reader.skip_space();
  if (!reader.at_end()) {
    reader.fail("unexpected text after the value");
    return refused(reader, body);
  }
  return refused(value.is_none() ? LineError::parse_error : LineError::crash,
                 value.excerpt(kShown) + " is not an object with time_ms, key, value and metadata");
}

LineOutcome no_time(LineError error, const PythonValue& time) {
  return refused(error, "time_ms is " + time.excerpt(kShown) + ", not a number");
}

/// Python's float(time_ms): a ValueError is recorded, a TypeError or OverflowError is not caught.
LineOutcome set_time(LogEntry& entry, const PythonValue& time) {
  if (time.is_string()) {
    const auto number = python_float(time.text());
    if (!number) return no_time(LineError::parse_error, time);
    entry.time_ms = *number;
    return {};
  }
  entry.time_ms = time.number();
  const bool overflow = time.is_int() && std::isinf(entry.time_ms);
  return time.is_number() && !overflow ? LineOutcome() : no_time(LineError::crash, time);
}

LineOutcome without(Field field) {
  return refused(LineError::crash, "the line has no " + std::string(kNames[field]));
}

/// In the order of the official checker.
LineOutcome set_entry(LogEntry& entry, Fields& fields) {
  if (!fields.present[kTime]) return without(kTime);
  if (LineOutcome bad = set_time(entry, fields.time); bad.error) return bad;
  for (const Field field : {kKey, kValue, kMetadata})
    if (!fields.present[field]) return without(field);
  if (fields.unwanted()) return {};
  if (!fields.waiting_value.empty()) PythonJsonReader(fields.waiting_value).read(&fields.value);
  if (!fields.waiting_metadata.empty())
    PythonJsonReader(fields.waiting_metadata).read(&fields.metadata);
  entry.key = fields.key.text;
  entry.event_type = fields.event_type.text;
  entry.value = std::move(fields.value);
  entry.metadata = std::move(fields.metadata);
  return {.wanted = true};
}

/// `body`: the text after the token.
LineOutcome read_line(std::string_view body, LogEntry& entry) {
  body = without_trailing_space(body);
  PythonJsonReader reader(body);
  reader.skip_space();
  if (reader.at_end()) return refused(LineError::parse_error, "nothing after the token");
  if (reader.peek() != '{') return no_object(reader, body);
  Fields fields;
  if (!read_fields(reader, fields)) return refused(reader, body);
  return set_entry(entry, fields);
}

bool is_of_number(char c) {
  return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/// Of the JSON number that all characters of numbers from `begin` on form; 0 if they form none, or
/// a long one.
std::size_t size_of_number(std::string_view text, std::size_t begin) {
  constexpr std::size_t kMost = 30;
  const char* const first = text.data() + begin;
  const char* const end = first + std::min(kMost + 1, text.size() - begin);
  const char* at = first;
  const auto next = [&] { return at < end ? *at : '\0'; };
  const auto digits = [&] {
    const char* const before = at;
    while (at < end && is_digit(*at)) ++at;
    return at > before;
  };
  if (next() == '-') ++at;
  if (next() == '0')
    ++at;
  else if (!digits())
    return 0;
  if (next() == '.' && (++at, !digits())) return 0;
  if (next() == 'e' || next() == 'E') {
    ++at;
    if (next() == '+' || next() == '-') ++at;
    if (!digits()) return 0;
  }
  const auto size = static_cast<std::size_t>(at - first);
  return size > kMost || is_of_number(next()) || next() == '_' ? 0 : size;
}

/// How many bytes of both are equal.
std::size_t equal_bytes(std::string_view a, std::string_view b) {
  static_assert(std::endian::native == std::endian::little);
  const std::size_t size = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (std::uint64_t x, y; at + sizeof x <= size; at += sizeof x) {
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    if (x != y) return at + static_cast<std::size_t>(std::countr_zero(x ^ y)) / 8;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

}  // namespace

bool differ_in_numbers(std::string_view a, std::string_view b) {
  for (;;) {
    std::size_t same = equal_bytes(a, b);
    if (same == a.size() && same == b.size()) return true;
    while (same > 0 && is_of_number(a[same - 1])) --same;
    const bool goes_on = same > 0 && a[same - 1] == '_';
    const std::size_t of_a = size_of_number(a, same), of_b = size_of_number(b, same);
    if (goes_on || of_a == 0 || of_b == 0) return false;
    if (a.substr(same, of_a) == b.substr(same, of_b)) return false;  // what follows differs
    a.remove_prefix(same + of_a);
    b.remove_prefix(same + of_b);
  }
}

void LineReader::add(std::string_view text, std::int64_t line, std::int64_t column) {
  const std::int64_t index = log_.mllog_lines++;
  if (!counted_.empty() && differ_in_numbers(counted_, text)) return;
  LogEntry& entry = log_.entries.emplace_back();
  LineOutcome outcome = read_line(text.substr(kMllogToken.size()), entry);
  if (!outcome.wanted) {
    log_.entries.pop_back();
    if (outcome.error)
      log_.invalid_lines.push_back({line, column, index, *outcome.error, std::move(outcome.why)});
    else if (text.find('\\') == text.npos)
      counted_ = text;
    return;
  }
  entry.line = line;
  entry.column = column;
  entry.index = index;
  entry.text = text;
}

}  // namespace bench::mlperf
