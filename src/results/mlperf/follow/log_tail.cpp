#include "results/mlperf/follow/log_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"
#include "core/text.h"

namespace bench::mlperf {
namespace {

constexpr std::size_t kMaxPieceBytes = std::size_t{16} << 20;

}  // namespace

LogTail::LogTail(const std::filesystem::path& path) : path_(path) { open(); }

void LogTail::open() {
  const std::string name = printable(path_.string());
  file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file_.valid()) throw_errno("open " + name, "check that the training has created it");
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) throw_errno("stat " + name);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::input, name + " is not a regular file", "pass the log that the run writes");
  device_ = status.st_dev;
  inode_ = status.st_ino;
  at_ = 0;
}

/// True if the file was truncated or another file has its name; a temporarily missing name does not
/// count.
bool LogTail::replaced() const {
  struct stat open_file {
  }, named{};
  if (::fstat(file_.get(), &open_file) == 0 && open_file.st_size < at_) return true;
  return ::stat(path_.c_str(), &named) == 0 && (named.st_dev != device_ || named.st_ino != inode_);
}

LogTail::Piece LogTail::more() {
  Piece piece;
  piece.restarted = replaced();
  if (piece.restarted) open();
  std::string block(std::size_t{1} << 16, '\0');
  for (;;) {
    piece.all = piece.bytes.size() < kMaxPieceBytes;
    if (!piece.all) break;
    const ssize_t got = ::pread(file_.get(), block.data(), block.size(), at_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("read " + printable(path_.string()));
    if (got == 0) break;
    piece.bytes.append(block, 0, static_cast<std::size_t>(got));
    at_ += got;
  }
  return piece;
}

}  // namespace bench::mlperf
