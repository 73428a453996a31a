// A log of an MLPerf training, read as the official checker (mlcommons/logging 4.1) reads it: as
// Latin-1, lines ended by LF, CR or CRLF, what follows the last token of a line as Python's json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "results/mlperf/log/python_value.h"

namespace bench::mlperf {

/// A hash (XXH64) of a file's bytes: equal files have equal digests. Not for security.
using Digest = std::uint64_t;

/// A line with the token ":::MLLOG ".
struct LogEntry {
  /// As editors and `grep -n` count: lines end with LF; in a file without any LF, with CR.
  std::int64_t line = 0;
  std::int64_t column = 0;  // of the token, in bytes from 1
  std::int64_t index = 0;   // from 0 among lines with the token: the official checker's "lineno"
  double time_ms = 0.0;     // since 1970; NaN and infinities can be written
  std::string key = {};
  std::string event_type = {};  // "" where it is missing or no text
  PythonValue value = {};
  PythonValue metadata = {};   // a dict, as a rule
  std::string_view text = {};  // from the token to the line's end; the Log owns it
};

enum class Trouble {
  parse_error,  // the official checker records it, and the file fails
  crash         // the official checker ends with a traceback there
};

struct LogTrouble {
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::int64_t index = 0;  // as in LogEntry
  Trouble kind = Trouble::parse_error;
  std::string text = {};  // why; safe to print
};

struct Log {
  std::filesystem::path path = {};
  /// In the order of the file; without those whose key no rule asks for (left_out_key), which are
  /// validated and counted in `mllog_lines`.
  std::vector<LogEntry> entries = {};
  std::vector<LogTrouble> troubles = {};  // in the order of the file
  std::int64_t bytes = 0;
  std::int64_t lines = 0;        // of the file, as LogEntry::line counts
  std::int64_t mllog_lines = 0;  // with the token: entries, troubles and what was left out
  Digest digest = 0;
  std::shared_ptr<const void> content = {};  // what `text` points into
};

/// True for keys that no rule set, score or check reads and that make up most of a log: their lines
/// are not kept ("tracked_stats").
bool left_out_key(std::string_view key);

/// Never throws for what a log contains. Throws Error(environment) where it cannot be read,
/// Error(input) for a folder. The file must not be cut short meanwhile (SIGBUS): it is mapped.
Log read_log(const std::filesystem::path& path);
/// The same for a text at hand.
Log read_log_text(std::string_view text, std::string name);

/// Each log with its index in `paths`, from as many threads as this process may use cores, at once
/// and in any order; each thread holds one log. Throws what a read or `each` threw first.
void read_logs(const std::vector<std::filesystem::path>& paths,
               const std::function<void(std::size_t, const Log&)>& each);

/// nullptr where there is none.
const LogEntry* first_entry(const Log& log, std::string_view key);
const LogEntry* last_entry(const Log& log, std::string_view key);

}  // namespace bench::mlperf
