#include "probes/external/rank_output.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/mllog.h"
#include "core/text.h"

namespace bench::external {
namespace {

constexpr std::size_t kLastLines = 6;
constexpr std::size_t kLastLineBytes = 200;

}  // namespace

RankOutput::RankOutput(const std::filesystem::path& file, std::size_t most)
    : file_(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644)),
      most_(most) {
  if (!file_.valid()) throw_errno("create the log " + file.string());
}

void RankOutput::add(std::string_view bytes, bool is_error, Seconds now) {
  (is_error ? error_ : out_).add(bytes, [&](std::string_view line, std::size_t dropped) {
    add_line(line, dropped, now);
  });
}

void RankOutput::finish(Seconds now) {
  for (LineSplitter* stream : {&out_, &error_})
    stream->finish(
        [&](std::string_view line, std::size_t dropped) { add_line(line, dropped, now); });
}

void RankOutput::add_line(std::string_view line, std::size_t dropped, Seconds now) {
  keep(line, dropped);
  lines_cut_ += dropped > 0;
  if (line.find(kMllogToken) != std::string_view::npos) {
    followed_.push_back({std::string(line), now_ns(), now});
  } else if (line.find_first_not_of(" \t-=*") != std::string_view::npos) {
    tail_.push_back(printable(line.substr(0, kLastLineBytes)));
    if (tail_.size() > kLastLines) tail_.pop_front();
  }
}

void RankOutput::keep(std::string_view line, std::size_t dropped) {
  if (incomplete_) return;
  std::string text(line);
  if (dropped > 0) text += fmt::format(" [truncated: {} more bytes]", dropped);
  text += '\n';
  if (written_ + text.size() > most_) {
    incomplete_ = true;
    text = fmt::format("[log truncated at {} bytes]\n", most_);
  }
  // A log that cannot be written must not end a training.
  if (!write_all(file_.get(), text)) incomplete_ = true;
  written_ += text.size();
}

std::vector<FollowedLine> RankOutput::take() { return std::exchange(followed_, {}); }

std::string RankOutput::last_output() const { return join({tail_.begin(), tail_.end()}, " | "); }

}  // namespace bench::external
