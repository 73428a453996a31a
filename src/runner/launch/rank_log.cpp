#include "runner/launch/rank_log.h"

#include <fcntl.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

// srun alone adds five when a rank of several dies; what the rank said stands before them.
constexpr std::size_t kTailLines = 8;
constexpr std::size_t kTailLineBytes = 200;

// As a rank says why it ends; what launchers have to say about that comes behind it.
constexpr std::string_view kError = "error: ";

// mpirun frames its messages with lines of dashes.
bool says_something(std::string_view line) {
  return line.find_first_not_of("-=* \t\r") != std::string_view::npos;
}

}  // namespace

RankLog::RankLog(const std::filesystem::path& path)
    : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (!file_.valid()) throw_errno("make the log " + path.string());
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
  if (written_ >= kMaxBytes) text += "(the rest was dropped: the log is full)\n";
  // A log that cannot be written must not end a measurement; the records are the truth.
  if (write(file_.get(), text.data(), text.size()) < 0) written_ = kMaxBytes;
}

std::string RankLog::last_words() const {
  const bool pushed_out = !error_.empty() && std::ranges::find(tail_, error_) == tail_.end();
  std::string result = pushed_out ? printable(error_) : "";
  for (const std::string& line : tail_) result += (result.empty() ? "" : " | ") + printable(line);
  return result;
}

}  // namespace bench
