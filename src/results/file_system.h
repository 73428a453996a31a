// What the database must know about the file system it lies on, and the lock that keeps writers
// apart where SQLite's own shared memory does not work.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace bench {

/// True for the f_type of statfs(2) of file systems that several machines share, or that pass locks
/// on in ways we cannot know (FUSE): WAL needs memory shared by all writers, so it is not safe
/// there.
bool is_network_type(std::uint32_t f_type);

/// Asks about `path` or, when it does not exist, its nearest parent that does. False when unknown.
bool is_network_file_system(const std::filesystem::path& path);

/// An exclusive flock(2) on a file of its own, held until the end of the scope. Over NFS Linux
/// turns it into a byte-range lock, so that it holds between machines too.
class FileLock {
 public:
  /// Waits for at most `patience`. Throws Error(environment), naming the holder where it is known.
  FileLock(const std::filesystem::path& path, std::chrono::milliseconds patience);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace bench
