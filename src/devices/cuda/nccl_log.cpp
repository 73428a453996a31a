#include "devices/cuda/nccl_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "core/text.h"
#include "devices/nccl/nccl_environment.h"

namespace bench {
namespace {

constexpr off_t kPage = 65536;  // a multiple of any page size

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

// The variables remain set: NCCL has read them and keeps the file open.
NcclLog::~NcclLog() {
  if (file_ >= 0) close(file_);
}

std::string NcclLog::unread() {
  struct stat status {};
  if (file_ < 0 || fstat(file_, &status) != 0 || status.st_size <= seen_) return "";
  std::string text(static_cast<std::size_t>(status.st_size - seen_), '\0');
  const ssize_t got = pread(file_, text.data(), text.size(), seen_);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  const auto whole = text.rfind('\n');  // the rest is incomplete
  text.resize(whole == std::string::npos ? 0 : whole + 1);
  seen_ += static_cast<off_t>(text.size());
  // Frees the memory; NCCL continues after the hole.
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, seen_ / kPage * kPage);
  return text;
}

void NcclLog::read() {
  const std::string text = unread();
  for (const std::string_view line : words_of(text, "\n")) {
    if (auto choice = tuning_choice(line)) choice_ = std::move(choice);
    note_paths(line, paths_);
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
