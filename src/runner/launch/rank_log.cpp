#include "runner/launch/rank_log.h"

#include <fcntl.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

// srun adds five lines when one of several ranks dies, after the rank's own message.
constexpr std::size_t kTailLines = 8;
constexpr std::size_t kTailLineBytes = 200;

// The prefix of a rank's error message; messages of launchers follow it.
constexpr std::string_view kError = "error: ";

// mpirun frames its messages with lines of dashes.
bool says_something(std::string_view line) {
  return line.find_first_not_of("-=* \t\r") != std::string_view::npos;
}

}  // namespace

RankLog::RankLog(const std::filesystem::path& path)
    : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (!file_.valid()) throw_errno("create the log " + path.string());
}

void RankLog::add_line(std::string_view line) {
  if (says_something(line)) {
    if (error_.empty() && line.starts_with(kError)) error_ = line.substr(0, kTailLineBytes);
    tail_.emplace_back(line.substr(0, kTailLineBytes));
    if (tail_.size() > kTailLines) tail_.pop_front();
  }
  if (written_ >= kMaxBytes) return;
  std::string text(line.substr(0, kMaxBytes - written_));
  text += '\n';
  written_ += text.size();
  if (written_ >= kMaxBytes) text += "(log truncated)\n";
  // A failed write to the log must not stop a measurement: results are in the records.
  if (write(file_.get(), text.data(), text.size()) < 0) written_ = kMaxBytes;
}

std::string RankLog::stderr_tail() const {
  const bool pushed_out = !error_.empty() && std::ranges::find(tail_, error_) == tail_.end();
  std::string result = pushed_out ? printable(error_) : "";
  for (const std::string& line : tail_) result += (result.empty() ? "" : " | ") + printable(line);
  return result;
}

}  // namespace bench
