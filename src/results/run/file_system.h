// File system checks for the database, and the lock that serialises writers where SQLite's shared
// memory does not work.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace bench {

/// True for the statfs(2) f_type of file systems shared between machines, or with unknown locking
/// (FUSE). WAL needs memory shared by all writers, so it is unsafe there.
bool is_network_type(std::uint32_t f_type);

/// Checks `path` or, if it does not exist, its nearest existing parent. False if unknown.
bool is_network_file_system(const std::filesystem::path& path);

/// An exclusive flock(2) on a separate file, held until the end of the scope. On NFS Linux turns it
/// into a byte-range lock, so it also works between machines.
class FileLock {
 public:
  /// Waits for at most `patience`. Throws Error(environment), naming the holder if known.
  FileLock(const std::filesystem::path& path, std::chrono::milliseconds patience);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace bench
