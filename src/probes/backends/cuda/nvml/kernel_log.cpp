#include "probes/backends/cuda/nvml/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace bench {
namespace {

constexpr int kMostReads = 4096;

void add_lines(std::string_view text, std::vector<std::string>& lines) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.empty()) lines.emplace_back(line);
  }
}

}  // namespace

KernelLog::KernelLog(const std::string& path)
    : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ >= 0) lseek(file_, 0, SEEK_END);
}

KernelLog::~KernelLog() {
  if (file_ >= 0) close(file_);
}

std::vector<std::string> KernelLog::take() {
  std::vector<std::string> lines;
  if (file_ < 0) return lines;
  std::array<char, 8192> buffer;  // /dev/kmsg gives one whole message a read
  for (int reads = 0; reads < kMostReads; ++reads) {
    const ssize_t got = read(file_, buffer.data(), buffer.size());
    // EPIPE: messages were overwritten before we read them; the next read goes on behind them.
    if (got < 0 && (errno == EINTR || errno == EPIPE)) continue;
    if (got <= 0) break;
    add_lines({buffer.data(), static_cast<std::size_t>(got)}, lines);
  }
  return lines;
}

}  // namespace bench
