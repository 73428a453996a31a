// The line in which MLPerf's training benchmarks tell what they do:
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

/// Where a line begins; what stands before it (a rank's number, half a line of something else) is
/// not part of it.
inline constexpr std::string_view kMllogToken = ":::MLLOG ";

struct MllogLine {
  std::string name_space = {};  // "" in nearly all logs there are
  std::int64_t time_ms = 0;     // UTC, since 1970
  MllogEvent event = MllogEvent::point_in_time;
  std::string key = {};
  /// Any JSON. NaN, Infinity and -Infinity, which Python writes, are kept as numbers that are not
  /// finite: is_number_float() holds for them.
  Json value = nullptr;
  Json metadata = Json::object();
};

std::string_view to_string(MllogEvent event);  // "INTERVAL_START", "INTERVAL_END", "POINT_IN_TIME"

/// The line without its newline: the fields in the order and with the separators of Python's
/// json.dumps, in metadata `file` and `lineno` first, other text than ASCII as \uXXXX, numbers that
/// are not finite as NaN, Infinity, -Infinity.
std::string to_text(const MllogLine& line);

/// As a record can keep it: the object with its six fields. JSON has no number that is not finite;
/// such a one becomes the text "NaN", "Infinity" or "-Infinity".
Json to_json(const MllogLine& line);

/// Neither a line nor trouble: the text holds no token.
struct MllogParse {
  std::optional<MllogLine> line = {};
  std::string trouble = {};  // why what follows the token is no line; safe to print
};

/// Reads one line; its end may be there (LF, CR, CRLF). Split a file at each LF and each CR alike,
/// as the official reader does: a progress bar ends its lines with CR alone. Never throws.
/// - What counts is behind the last token, up to the first LF or CR after it.
/// - A key given twice: the last one counts. A field that is not among the six is ignored.
/// - `namespace` may be missing; of the other five, which ones are missing is trouble.
/// - `time_ms` may be a number or a text of one; parts of a millisecond are rounded.
/// - Bytes that are not UTF-8 are read as Latin-1.
/// - A number out of the range of f64, or more than kMaxJsonDepth levels, is trouble.
MllogParse parse_mllog(std::string_view text);

/// A log that several may write: rank 0 alone does, as a rule.
class MllogFile {
 public:
  /// Appends to what is there. Throws Error(environment) when the file cannot be opened.
  explicit MllogFile(const std::filesystem::path& path);

  /// The whole line with its newline in one write(2) at the end of the file, so that lines of
  /// several processes cannot be mixed up. Throws Error(environment) when it cannot be written, or
  /// not all of it: the line is torn then, and the next one starts behind the tear.
  void write(const MllogLine& line);

 private:
  std::filesystem::path path_;
  Descriptor file_;
  bool torn_ = false;
};

}  // namespace bench
