#include "results/mlperf/log/log.h"

#include <algorithm>
#include <utility>

#include "core/mllog.h"
#include "results/mlperf/log/digest.h"
#include "results/mlperf/log/file_bytes.h"
#include "results/mlperf/log/line_walk.h"
#include "results/mlperf/log/log_line.h"

namespace bench::mlperf {
namespace {

void add_line(Log& log, const TokenLine& at) {
  const std::int64_t index = log.mllog_lines++;
  LineOutcome outcome = read_line(at.text.substr(kMllogToken.size()));
  if (outcome.error)
    log.invalid_lines.push_back({at.line, at.column, index, *outcome.error, std::move(outcome.why)});
  if (!outcome.entry) return;
  LogEntry& entry = log.entries.emplace_back(std::move(*outcome.entry));
  entry.line = at.line;
  entry.column = at.column;
  entry.index = index;
  entry.text = at.text;
}

Log log_of(FileBytes bytes, std::filesystem::path path) {
  Log log{.path = std::move(path), .content = std::move(bytes.owner)};
  log.bytes = static_cast<std::int64_t>(bytes.text.size());
  log.digest = digest_of(bytes.text);
  LineWalk walk(bytes.text);
  for (TokenLine at; walk.next(at);) add_line(log, at);
  log.lines = walk.lines();
  return log;
}

}  // namespace

bool left_out_key(std::string_view key) { return key == "tracked_stats"; }

Log read_log(const std::filesystem::path& path) { return log_of(bytes_of_file(path), path); }

Log read_log_text(std::string_view text, std::string name) {
  return log_of(bytes_of_text(text), std::move(name));
}

const LogEntry* first_entry(const Log& log, std::string_view key) {
  const auto found = std::ranges::find(log.entries, key, &LogEntry::key);
  return found == log.entries.end() ? nullptr : &*found;
}

const LogEntry* last_entry(const Log& log, std::string_view key) {
  const auto found = std::find_if(log.entries.rbegin(), log.entries.rend(),
                                  [&](const LogEntry& entry) { return entry.key == key; });
  return found == log.entries.rend() ? nullptr : &*found;
}

}  // namespace bench::mlperf
