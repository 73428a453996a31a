#include "runner/dispatch/spool.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "core/error.h"

namespace bench {

Spool::Spool(const std::filesystem::path& path) : Spool(path, O_CREAT | O_EXCL) {}

Spool Spool::append_to(const std::filesystem::path& path) { return Spool(path, 0); }

Spool::Spool(const std::filesystem::path& path, int flags)
    : path_(path),
      file_(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0644)),
      synced_(std::chrono::steady_clock::now()) {
  if (!file_.valid()) throw_errno("open the spool " + path.string());
  // Some network file systems have no locks; the user must then avoid a second writer.
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw Error(ErrorKind::environment, path.string() + ": another benchctl process is writing this run",
                "wait for it to end");
}

void Spool::append(const std::string& json) {
  const off_t whole = lseek(file_.get(), 0, SEEK_END);
  const std::string line = json + '\n';
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t written = write(file_.get(), line.data() + done, line.size() - done);
    if (written > 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      const int reason = errno;
      if (done > 0 && ftruncate(file_.get(), whole) != 0)
        synced_ = {};  // readers skip a torn last line
      errno = reason;
      throw_errno("write a record to " + path_.string(),
                  "the run was stopped and its records so far are kept; free disk space, then run benchctl resume");
    }
  }
  unsynced_ = true;
}

void Spool::append(const Record& record) { append(dump(to_json(record))); }

void Spool::sync_now_and_then() {
  if (unsynced_ && std::chrono::steady_clock::now() - synced_ >= std::chrono::seconds(1)) sync();
}

void Spool::sync() {
  if (fsync(file_.get()) != 0 && errno != EINVAL && errno != EROFS)
    throw_errno("flush " + path_.string(),
                "recent records may be lost if the machine crashes");
  unsynced_ = false;
  synced_ = std::chrono::steady_clock::now();
}

}  // namespace bench
