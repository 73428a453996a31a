// Log lines of MLPerf's training benchmarks:
//   :::MLLOG {"namespace": "", "time_ms": 1759858994891, "event_type": "POINT_IN_TIME",
//             "key": "eval_accuracy", "value": 3.31, "metadata": {"file": "t.py", "lineno": 3}}
// on one line, written and read as github.com/mlcommons/logging 4.1 does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/descriptor.h"
#include "core/json.h"

namespace bench {

enum class MllogEvent { interval_start, interval_end, point_in_time };

/// Start of a line; preceding text (a rank number, other output) is not part of it.
inline constexpr std::string_view kMllogToken = ":::MLLOG ";

struct MllogLine {
  std::string name_space = {};  // "" in nearly all logs
  std::int64_t time_ms = 0;     // UTC, since 1970
  MllogEvent event = MllogEvent::point_in_time;
  std::string key = {};
  /// Any JSON. Python's NaN, Infinity and -Infinity are kept as non-finite numbers.
  Json value = nullptr;
  Json metadata = Json::object();
};

std::string_view to_string(MllogEvent event);  // "INTERVAL_START", "INTERVAL_END", "POINT_IN_TIME"

/// The line without newline, as by Python's json.dumps: fixed field order, `file` and `lineno`
/// first in metadata, non-ASCII text as \uXXXX, non-finite numbers as NaN, Infinity, -Infinity.
std::string to_text(const MllogLine& line);

/// For records: the object with its six fields. Non-finite numbers become "NaN", "Infinity" or
/// "-Infinity".
Json to_json(const MllogLine& line);

/// Both empty: the text has no token.
struct MllogParse {
  std::optional<MllogLine> line = {};
  std::string trouble = {};  // why the text after the token is invalid; safe to print
};

/// Parses one line, with or without line end (LF, CR, CRLF). Split files at LF and CR alike, as the
/// official reader does: progress bars end lines with CR. Never throws.
/// - The text after the last token counts, up to the first LF or CR.
/// - Of duplicate keys the last one counts. Unknown fields are ignored.
/// - `namespace` may be missing; missing other fields are listed in `trouble`.
/// - `time_ms` may be a number or numeric text; it is rounded to milliseconds.
/// - Invalid UTF-8 is read as Latin-1.
/// - Numbers beyond f64 and more than kMaxJsonDepth levels are invalid.
MllogParse parse_mllog(std::string_view text);

/// A log that several processes may append to; usually only rank 0 writes.
class MllogFile {
 public:
  /// Appends. Throws Error(environment) if the file cannot be opened.
  explicit MllogFile(const std::filesystem::path& path);

  /// Writes the line with its newline in a single write(2), so that lines of several processes are
  /// not mixed. Throws Error(environment) if it cannot be written completely; the next line then
  /// starts on a new line.
  void write(const MllogLine& line);

 private:
  std::filesystem::path path_;
  Descriptor file_;
  bool torn_ = false;
};

}  // namespace bench
