// Writing; mllog_parse.cpp reads.
#include "core/mllog.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

#include "core/error.h"
#include "core/names.h"

namespace bench {
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

/// As Python's json.dumps writes by default.
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

/// mlperf_logging writes where it was called from first.
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

/// A token inside a text would be taken for the beginning of the line.
void hide_tokens(std::string& text) {
  for (std::size_t at = 1; (at = text.find(kMllogToken, at)) != std::string::npos;)
    text.replace(at, 1, "\\u003a");
}

/// The same value with texts for the numbers that JSON lacks.
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
