#include "runner/launch/line_buffer.h"

#include <utility>

namespace bench {

void LineBuffer::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    const std::string_view part = bytes.substr(0, newline);
    if (!dropping_) partial_.append(part);
    if (partial_.size() > longest_) {
      overflowed_ = dropping_ = true;
      std::string().swap(partial_);
    }
    if (newline == std::string_view::npos) return;
    if (!dropping_) lines_.push_back(std::exchange(partial_, {}));
    dropping_ = false;
    bytes.remove_prefix(newline + 1);
  }
}

std::optional<std::string> LineBuffer::next() {
  if (lines_.empty()) return {};
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

void LineBuffer::finish() {
  if (!partial_.empty()) lines_.push_back(std::exchange(partial_, {}));
}

}  // namespace bench
