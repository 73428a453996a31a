#include "results/mlperf/follow/growing_log.h"

#include <utility>

#include "core/mllog.h"
#include "results/mlperf/log/log_line.h"

namespace bench::mlperf {

void GrowingLog::feed(std::string_view bytes) {
  log_.bytes += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\r\n");
    rest_ += bytes.substr(0, end);
    if (end == bytes.npos) return;
    take_line(rest_);
    physical_bytes_ += static_cast<std::int64_t>(rest_.size()) + 1;
    rest_.clear();
    if (bytes[end] == '\n') {
      ++log_.lines;
      physical_bytes_ = 0;
    }
    bytes.remove_prefix(end + 1);
  }
}

void GrowingLog::finish() {
  if (!rest_.empty() || physical_bytes_ > 0) {
    take_line(rest_);
    ++log_.lines;
  }
  rest_.clear();
}

void GrowingLog::take_line(std::string_view line) {
  const auto token = line.rfind(kMllogToken);
  if (token == line.npos) return;
  const std::int64_t index = log_.mllog_lines++;
  const std::int64_t number = log_.lines + 1;
  const std::int64_t column = physical_bytes_ + static_cast<std::int64_t>(token) + 1;
  LineOutcome outcome = read_line(line.substr(token + kMllogToken.size()));
  if (outcome.error)
    log_.invalid_lines.push_back({number, column, index, *outcome.error, std::move(outcome.why)});
  if (!outcome.entry) return;
  LogEntry& entry = log_.entries.emplace_back(std::move(*outcome.entry));
  entry.line = number;
  entry.column = column;
  entry.index = index;
}

}  // namespace bench::mlperf
