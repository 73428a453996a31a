#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "core/error.h"
#include "core/mllog.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kMostShown = 60;  // of a text that is refused

struct Literal {
  std::string_view name;
  double value;
};

constexpr Literal kNotFinite[] = {{"-Infinity", -std::numeric_limits<double>::infinity()},
                                  {"Infinity", std::numeric_limits<double>::infinity()},
                                  {"NaN", std::numeric_limits<double>::quiet_NaN()}};

/// A text that the JSON library reads, and which of its strings (keys count too) stand for numbers
/// that are not finite.
struct Standard {
  std::string text;
  std::map<std::size_t, double> stand_ins;
};

std::size_t end_of_string(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

Standard standard_json(std::string_view text) {
  Standard result;
  std::size_t strings = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 1;
    const Literal* found = nullptr;
    if (text[at] == '"') {
      length = end_of_string(text, at) - at;
      ++strings;
    }
    for (const Literal& literal : kNotFinite)
      if (text.substr(at).starts_with(literal.name)) {
        found = &literal;
        break;
      }
    if (found != nullptr) {
      result.stand_ins[strings++] = found->value;
      result.text += "\"\"";
      length = found->name.size();
    } else {
      result.text += text.substr(at, length);
    }
    at += length;
  }
  return result;
}

/// The JSON library's reader with Python's rules. Throws Error(input), or what that library throws.
Json read_python_json(std::string_view text) {
  using Event = Json::parse_event_t;
  const Standard standard = standard_json(text);
  std::size_t strings = 0;
  const auto look = [&](int depth, Event event, Json& parsed) {
    const bool opens = event == Event::object_start || event == Event::array_start;
    if (opens && depth >= kMaxJsonDepth)
      throw Error(ErrorKind::input,
                  "nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    if (event == Event::key || (event == Event::value && parsed.is_string())) {
      const auto stand_in = standard.stand_ins.find(strings++);
      if (stand_in != standard.stand_ins.end() && event == Event::value) parsed = stand_in->second;
      if (stand_in != standard.stand_ins.end() && event == Event::key)
        throw Error(ErrorKind::input, "a number as a key");
    }
    return true;
  };
  return Json::parse(standard.text, look);
}

std::string from_latin1(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      result += c;
    } else {
      result += static_cast<char>(0xc0 | byte >> 6);
      result += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return result;
}

bool is_utf8(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return true;
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

std::string shown(const Json& value) { return printable(excerpt(value)); }

std::optional<double> number_in(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return {};
  const auto& text = value.get_ref<const std::string&>();
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

std::int64_t milliseconds_in(const Json& value) {
  constexpr double kMost = 9.0e15;  // past the year 287000; an integer in f64 all the same
  const auto number = number_in(value);
  if (!number || !(std::abs(*number) <= kMost))
    throw Error(ErrorKind::input, "time_ms is " + shown(value) + ", which is not a time");
  return std::llround(*number);
}

MllogEvent event_in(const Json& value) {
  for (const MllogEvent event :
       {MllogEvent::interval_start, MllogEvent::interval_end, MllogEvent::point_in_time})
    if (value == Json(to_string(event))) return event;
  throw Error(ErrorKind::input, "event_type is " + shown(value) +
                                    "; expected INTERVAL_START, INTERVAL_END or POINT_IN_TIME");
}

std::string text_in(const Json& fields, const char* key) {
  const Json& value = fields.at(key);
  if (!value.is_string())
    throw Error(ErrorKind::input, std::string(key) + " is " + shown(value) + ", which is not a string");
  return value.get<std::string>();
}

void demand_fields(const Json& fields) {
  if (!fields.is_object()) throw Error(ErrorKind::input, shown(fields) + " is not a JSON object");
  std::vector<std::string> missing;
  for (const char* key : {"time_ms", "event_type", "key", "value", "metadata"})
    if (!fields.contains(key)) missing.emplace_back(key);
  if (!missing.empty()) throw Error(ErrorKind::input, "missing: " + join(missing, ", "));
}

MllogLine line_from(const Json& fields) {
  demand_fields(fields);
  MllogLine line;
  if (fields.contains("namespace")) line.name_space = text_in(fields, "namespace");
  line.time_ms = milliseconds_in(fields.at("time_ms"));
  line.event = event_in(fields.at("event_type"));
  line.key = text_in(fields, "key");
  line.value = fields.at("value");
  line.metadata = fields.at("metadata");
  if (!line.metadata.is_object())
    throw Error(ErrorKind::input, "metadata is " + shown(line.metadata) + ", which is not an object");
  return line;
}

/// The library's messages begin with "[json.exception.parse_error.101] ".
std::string without_code(std::string_view what) {
  const auto end = what.starts_with('[') ? what.find("] ") : std::string_view::npos;
  return printable(end == std::string_view::npos ? what : what.substr(end + 2));
}

}  // namespace

MllogParse parse_mllog(std::string_view text) {
  const auto token = text.rfind(kMllogToken);
  if (token == std::string_view::npos) return {};
  std::string_view body = text.substr(token + kMllogToken.size());
  body = body.substr(0, body.find_first_of("\r\n"));
  const std::string_view seen = body.substr(0, kMostShown);
  try {
    return {line_from(read_python_json(is_utf8(body) ? std::string(body) : from_latin1(body))), ""};
  } catch (const Error& error) {
    return {{}, error.what()};
  } catch (const Json::exception& error) {
    return {{}, "not valid JSON: " + without_code(error.what()) + ": " + printable(seen)};
  }
}

}  // namespace bench
