#include "devices/cuda/nccl_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "devices/nccl/nccl_environment.h"

namespace bench {
namespace {

constexpr off_t kPage = 65536;  // a multiple of any page's size

}  // namespace

NcclLog::NcclLog() {
  if (std::getenv("NCCL_DEBUG") != nullptr || std::getenv("NCCL_DEBUG_FILE") != nullptr) return;
  file_ = memfd_create("nccl_log", MFD_CLOEXEC);
  if (file_ < 0) return;
  setenv("NCCL_DEBUG", "INFO", 1);
  setenv("NCCL_DEBUG_SUBSYS", "INIT,TUNING", 1);
  setenv("NCCL_DEBUG_FILE", ("/proc/self/fd/" + std::to_string(file_)).c_str(), 1);
}

NcclLog& NcclLog::of_process() {
  static NcclLog log;
  return log;
}

// The variables stay: NCCL has read them, and holds the file open by itself.
NcclLog::~NcclLog() {
  if (file_ >= 0) close(file_);
}

std::string NcclLog::unread() {
  struct stat status {};
  if (file_ < 0 || fstat(file_, &status) != 0 || status.st_size <= seen_) return "";
  std::string text(static_cast<std::size_t>(status.st_size - seen_), '\0');
  const ssize_t got = pread(file_, text.data(), text.size(), seen_);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  const auto whole = text.rfind('\n');  // a line that is being written is read next time
  text.resize(whole == std::string::npos ? 0 : whole + 1);
  seen_ += static_cast<off_t>(text.size());
  // Gives the memory back; NCCL goes on writing behind the hole.
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, seen_ / kPage * kPage);
  return text;
}

void NcclLog::read() {
  const std::string text = unread();
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (auto choice = tuning_choice(line)) choice_ = std::move(choice);
    note_paths(line, paths_);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
}

std::optional<CollectiveChoice> NcclLog::chosen() {
  read();
  return std::exchange(choice_, std::nullopt);
}

const UsedPaths& NcclLog::used_paths() {
  read();
  return paths_;
}

}  // namespace bench
