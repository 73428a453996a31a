// An MLPerf training log, parsed like the official checker (mlcommons/logging 4.1): as Latin-1,
// with LF, CR or CRLF line ends, and the text after the last token of a line as Python JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mlperf/log/python_value.h"

namespace bench::mlperf {

/// Counts `wanted`, several bytes at a time.
std::int64_t count_bytes(std::string_view bytes, char wanted);

/// XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), seed 0, of a file's bytes: a fast check
/// for equal files, not for security.
using Digest = std::uint64_t;
Digest digest_of(std::string_view bytes);

/// A line with the token ":::MLLOG ".
struct LogEntry {
  /// Numbered as in editors and `grep -n`: lines end with LF, or with CR in a file without LF.
  std::int64_t line = 0;
  std::int64_t column = 0;  // of the token, in bytes from 1
  std::int64_t index = 0;   // among lines with the token, from 0: the official checker's "lineno"
  double time_ms = 0.0;     // since 1970; may be NaN or infinite
  std::string key = {};
  std::string event_type = {};  // "" if missing or not a string
  PythonValue value = {};
  PythonValue metadata = {};   // usually a dict
  std::string_view text = {};  // from the token to the end of the line; owned by the Log
};

enum class LineError {
  parse_error,  // the official checker records it and fails the file
  crash         // the official checker ends with a traceback
};

struct InvalidLine {
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::int64_t index = 0;  // as in LogEntry
  LineError kind = LineError::parse_error;
  std::string text = {};  // why; safe to print
};

struct Log {
  std::filesystem::path path = {};
  /// In file order, without lines that no rule needs (left_out_key); those are validated and
  /// counted in `mllog_lines`.
  std::vector<LogEntry> entries = {};
  std::vector<InvalidLine> invalid_lines = {};  // in file order
  std::int64_t bytes = 0;
  std::int64_t lines = 0;        // of the file, as LogEntry::line counts
  std::int64_t mllog_lines = 0;  // lines with the token: entries, invalid and skipped lines
  Digest digest = 0;
  std::shared_ptr<const void> content = {};  // what `text` points into
};

/// True for frequent keys that no rule set, score or check reads ("tracked_stats"): their lines are
/// skipped.
bool left_out_key(std::string_view key);

/// Never throws because of a log's content. Throws Error(environment) if it cannot be read,
/// Error(input) for a folder. A file above 4 MiB is memory-mapped and must not be truncated
/// meanwhile (SIGBUS).
Log read_log(const std::filesystem::path& path);
/// The same for a string.
Log read_log_text(std::string_view text, std::string name);

/// Calls `each` for every log with its index in `paths`, concurrently from one thread per available
/// core and in any order; each thread holds one log. Rethrows the first exception of a read or
/// `each`.
void read_logs(const std::vector<std::filesystem::path>& paths,
               const std::function<void(std::size_t, const Log&)>& each);

/// nullptr if there is none.
const LogEntry* first_entry(const Log& log, std::string_view key);
const LogEntry* last_entry(const Log& log, std::string_view key);

}  // namespace bench::mlperf
