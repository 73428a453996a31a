#include "results/run/file_system.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

// linux/magic.h and the projects' own headers.
constexpr std::array<std::uint32_t, 14> kNetworkTypes = {
    0x00006969,  // NFS
    0x0000517b,  // SMB
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB2
    0x0bd00bd0,  // Lustre
    0x47504653,  // GPFS
    0x65735546,  // FUSE
    0x00c36400,  // CephFS
    0x19830326,  // BeeGFS
    0x01021997,  // 9p
    0x5346414f,  // AFS
    0x73757245,  // Coda
    0x7461636f,  // OCFS2
    0x01161970   // GFS2
};

/// "host 17" as the holder wrote it, for the error message.
std::string holder(int file) {
  std::array<char, 128> text{};
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  return size > 0 ? printable({text.data(), static_cast<std::size_t>(size)}) : "another process";
}

void write_holder(int file) {
  std::array<char, 64> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string text = "process " + std::to_string(getpid()) + " on " + host.data();
  // Informational only: on failure just the name is missing.
  if (ftruncate(file, 0) == 0 && pwrite(file, text.data(), text.size(), 0) < 0) errno = 0;
}

}  // namespace

bool is_network_type(std::uint32_t f_type) {
  return std::find(kNetworkTypes.begin(), kNetworkTypes.end(), f_type) != kNetworkTypes.end();
}

bool is_network_file_system(const fs::path& path) {
  std::error_code ignored;
  fs::path place = fs::absolute(path, ignored);
  while (!fs::exists(place, ignored) && place.has_relative_path()) place = place.parent_path();
  struct statfs about {};
  if (statfs(place.c_str(), &about) != 0) return false;
  return is_network_type(static_cast<std::uint32_t>(about.f_type));
}

FileLock::FileLock(const fs::path& path, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kPause(20);
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw_errno("open the lock " + path.string());
  const auto give_up = std::chrono::steady_clock::now() + patience;
  while (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    const bool held = errno == EWOULDBLOCK;
    if (held && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    const std::string who = held ? holder(file_) : "";
    const int reason = errno;
    close(file_);
    if (held)
      throw Error(ErrorKind::environment, path.string() + " is locked by " + who,
                  "wait until it has finished; the run is safe in its spool, import it later with "
                  "`benchctl rebuild`");
    errno = reason;
    throw_errno("lock " + path.string());
  }
  write_holder(file_);
}

FileLock::~FileLock() { close(file_); }

}  // namespace bench
