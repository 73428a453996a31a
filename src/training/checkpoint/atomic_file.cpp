#include "training/checkpoint/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "core/error.h"

namespace bench::training {
namespace {

constexpr const char* kMakeRoom = "free space there or choose another folder";

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path, FileObserver observer,
                       const std::string& unfinished)
    : path_(std::move(path)),
      unfinished_(path_.string() + unfinished),
      observer_(std::move(observer)) {
  observe("open");
  file_ = Descriptor(
      ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file_.valid()) throw_errno("open " + unfinished_.string(), kMakeRoom);
}

AtomicFile::~AtomicFile() {
  if (!committed_ && file_.valid()) ::unlink(unfinished_.c_str());
}

void AtomicFile::observe(const char* operation) const {
  if (observer_) observer_(operation);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  observe("write");
  if (!write_all(file_.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
    throw_errno("write " + unfinished_.string(), kMakeRoom);
}

void AtomicFile::commit() {
  observe("fsync");
  if (::fsync(file_.get()) != 0) throw_errno("sync " + unfinished_.string());
  observe("rename");
  if (std::rename(unfinished_.c_str(), path_.c_str()) != 0)
    throw_errno("rename " + unfinished_.string() + " to " + path_.string());
  committed_ = true;
  observe("fsync of the folder");
  const std::filesystem::path folder = path_.parent_path().empty() ? "." : path_.parent_path();
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a folder; nothing more can be done there.
  if (!directory.valid() || (::fsync(directory.get()) != 0 && errno != EINVAL && errno != EROFS))
    throw_errno("sync " + folder.string());
}

}  // namespace bench::training
