#include "probes/storage/storage_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "probes/storage/aligned_buffer.h"

namespace bench::storage {
namespace {

int open_flags(Access access, OpenFor purpose) {
  int flags = O_CLOEXEC;
  if (access == Access::direct) flags |= O_DIRECT;
  if (purpose == OpenFor::reading) return flags | O_RDONLY;
  flags |= O_RDWR | O_CREAT | O_NOFOLLOW;
  return purpose == OpenFor::writing_anew ? flags | O_TRUNC : flags;
}

std::string at_offset(const std::string& doing, const std::string& name, std::uint64_t offset) {
  return doing + " " + name + " at byte " + std::to_string(offset);
}

}  // namespace

StorageFile::StorageFile(const std::filesystem::path& path, Access access, OpenFor purpose)
    : name_(path.string()), file_(::open(path.c_str(), open_flags(access, purpose), 0644)) {
  if (!file_.valid())
    throw_errno("open " + name_ + (access == Access::direct ? " for direct I/O" : ""));
}

void StorageFile::read(std::span<std::byte> into, std::uint64_t offset) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(at_offset("read", name_, offset));
    if (got == 0)
      throw Error(ErrorKind::environment, name_ + " ends at byte " + std::to_string(offset) + ", " +
                                              std::to_string(into.size()) + " bytes too early");
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void StorageFile::write(std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_errno(at_offset("write", name_, offset), "free some space there");
    if (put == 0)
      throw Error(ErrorKind::environment, at_offset("write", name_, offset) + " wrote nothing");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
}

bool StorageFile::preallocate(std::uint64_t bytes) {
  if (bytes == 0 || ::fallocate(file_.get(), 0, 0, static_cast<off_t>(bytes)) == 0) return true;
  if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return false;
  throw_errno("make room for " + std::to_string(bytes) + " bytes in " + name_,
              "free some space there");
}

void StorageFile::sync() {
  if (::fdatasync(file_.get()) != 0) throw_errno("write " + name_ + " to its device");
}

std::uint64_t StorageFile::bytes() const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) throw_errno("stat " + name_);
  return static_cast<std::uint64_t>(status.st_size);
}

void sync_folder(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder.empty() ? "." : folder;
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a folder; their renames are as durable as they get.
  if (!directory.valid() || (::fsync(directory.get()) != 0 && errno != EINVAL && errno != EROFS))
    throw_errno("write the folder " + path.string() + " to its device");
}

std::string no_direct_access(const std::filesystem::path& folder) {
  const std::string path = (folder / ("direct-" + std::to_string(::getpid()))).string();
  const Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_DIRECT, 0644));
  if (!file.valid()) return std::string("open: ") + std::strerror(errno);
  AlignedBuffer block(kDirectAlignment);
  const auto size = static_cast<ssize_t>(block.all().size());
  std::string reason;
  if (::pwrite(file.get(), block.all().data(), block.all().size(), 0) != size)
    reason = std::string("write: ") + std::strerror(errno);
  else if (::pread(file.get(), block.all().data(), block.all().size(), 0) != size)
    reason = std::string("read: ") + std::strerror(errno);
  ::unlink(path.c_str());
  return reason;
}

}  // namespace bench::storage
