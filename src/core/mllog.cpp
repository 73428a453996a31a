#include "core/mllog.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "core/error.h"
#include "core/names.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kMostShown = 60;  // of invalid text

struct Literal {
  std::string_view name;
  double value;
};

constexpr Literal kNotFinite[] = {{"-Infinity", -std::numeric_limits<double>::infinity()},
                                  {"Infinity", std::numeric_limits<double>::infinity()},
                                  {"NaN", std::numeric_limits<double>::quiet_NaN()}};

/// JSON text that the library accepts, and the indices of strings (keys count) that replace
/// non-finite numbers.
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

/// Parses with the rules of Python. Throws Error(input), or the exceptions of the library.
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
    throw Error(ErrorKind::input,
                std::string(key) + " is " + shown(value) + ", which is not a string");
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
    throw Error(ErrorKind::input,
                "metadata is " + shown(line.metadata) + ", which is not an object");
  return line;
}

/// Messages of the library begin with "[json.exception.parse_error.101] ".
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

namespace {

constexpr NameTable<MllogEvent, 3> kEvents{{{{MllogEvent::interval_start, "INTERVAL_START"},
                                             {MllogEvent::interval_end, "INTERVAL_END"},
                                             {MllogEvent::point_in_time, "POINT_IN_TIME"}}}};

bool not_finite(const Json& value) {
  return value.is_number_float() && !std::isfinite(value.get<double>());
}

const char* name_of_not_finite(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0.0 ? "Infinity" : "-Infinity";
}

void write_value(std::string& text, const Json& value);

void write_member(std::string& text, const std::string& key, const Json& value) {
  if (text.back() != '{') text += ", ";
  write_value(text, key);
  text += ": ";
  write_value(text, value);
}

/// Like the default of json.dumps.
void write_value(std::string& text, const Json& value) {
  if (value.is_object()) {
    text += '{';
    for (const auto& [key, member] : value.items()) write_member(text, key, member);
    text += '}';
  } else if (value.is_array()) {
    text += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) text += ", ";
      write_value(text, value[i]);
    }
    text += ']';
  } else if (not_finite(value)) {
    text += name_of_not_finite(value.get<double>());
  } else {
    text += value.dump(-1, ' ', true, Json::error_handler_t::replace);
  }
}

/// mlperf_logging writes the source location first.
void write_metadata(std::string& text, const Json& metadata) {
  if (!metadata.is_object()) return write_value(text, metadata);
  text += '{';
  for (const char* key : {"file", "lineno"})
    if (const auto found = metadata.find(key); found != metadata.end())
      write_member(text, key, *found);
  for (const auto& [key, value] : metadata.items())
    if (key != "file" && key != "lineno") write_member(text, key, value);
  text += '}';
}

/// A token within a text would start a new line.
void hide_tokens(std::string& text) {
  for (std::size_t at = 1; (at = text.find(kMllogToken, at)) != std::string::npos;)
    text.replace(at, 1, "\\u003a");
}

/// Replaces non-finite numbers by text.
Json with_finite_numbers(const Json& value) {
  if (not_finite(value)) return name_of_not_finite(value.get<double>());
  if (!value.is_structured()) return value;
  Json result = value;
  for (Json& member : result) member = with_finite_numbers(member);
  return result;
}

}  // namespace

std::string_view to_string(MllogEvent event) { return kEvents.name(event); }

std::string to_text(const MllogLine& line) {
  std::string text(kMllogToken);
  text += '{';
  write_member(text, "namespace", line.name_space);
  write_member(text, "time_ms", line.time_ms);
  write_member(text, "event_type", to_string(line.event));
  write_member(text, "key", line.key);
  write_member(text, "value", line.value);
  text += ", \"metadata\": ";
  write_metadata(text, line.metadata);
  text += '}';
  hide_tokens(text);
  return text;
}

Json to_json(const MllogLine& line) {
  return {{"namespace", line.name_space},
          {"time_ms", line.time_ms},
          {"event_type", to_string(line.event)},
          {"key", line.key},
          {"value", with_finite_numbers(line.value)},
          {"metadata", with_finite_numbers(line.metadata)}};
}

MllogFile::MllogFile(const std::filesystem::path& path)
    : path_(path), file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (!file_.valid()) throw_errno("open the MLLOG file " + path.string());
}

void MllogFile::write(const MllogLine& line) {
  const std::string text = (torn_ ? "\n" : "") + to_text(line) + '\n';
  ssize_t written;
  do written = ::write(file_.get(), text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written < 0) throw_errno("write a line to the MLLOG file " + path_.string());
  torn_ = static_cast<std::size_t>(written) < text.size();
  if (torn_)
    throw Error(ErrorKind::environment,
                path_.string() + ": only " + std::to_string(written) + " of the " +
                    std::to_string(text.size()) + " bytes of an MLLOG line were written",
                "check for a full disk or a file size limit");
}

}  // namespace bench
