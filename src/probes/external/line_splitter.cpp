#include "probes/external/line_splitter.h"

#include <algorithm>

namespace bench::external {

void LineSplitter::add(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const auto end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    const std::size_t kept = std::min(part.size(), longest_ - line_.size());
    line_.append(part.substr(0, kept));
    dropped_ += part.size() - kept;
    if (end == std::string_view::npos) return;
    after_cr_ = bytes[end] == '\r';
    end_line(take);
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::finish(const Take& take) {
  if (!line_.empty()) end_line(take);
}

void LineSplitter::end_line(const Take& take) {
  take(line_, dropped_);
  line_.clear();
  dropped_ = 0;
}

}  // namespace bench::external
