#include "core/whole_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/sha256.h"
#include "core/text.h"

namespace bench {
namespace {

/// Named pipes of other processes are none of these.
bool is_passed_by_shell(const std::filesystem::path& path) {
  const std::string name = path.string();
  return name == "/dev/stdin" || name.starts_with("/dev/fd/") || name.starts_with("/proc/self/fd/");
}

}  // namespace

Descriptor open_input(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a named pipe waits for a writer.
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) throw_errno("read " + path.string());
  struct stat about {};
  if (fstat(file.get(), &about) != 0) throw_errno("read " + path.string());
  if (S_ISDIR(about.st_mode))
    throw Error(ErrorKind::input, "cannot read " + path.string() + ": Is a directory",
                "give a file");
  const bool passed = S_ISFIFO(about.st_mode) && is_passed_by_shell(path);
  if (!S_ISREG(about.st_mode) && !passed)
    throw Error(ErrorKind::input, "cannot read " + path.string() + ": not a regular file",
                "copy its content to a file");
  if (passed && fcntl(file.get(), F_SETFL, O_RDONLY) != 0) throw_errno("read " + path.string());
  return file;
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::error_code ignored;  // if the folder cannot be made, opening the file reports it
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text << std::flush;
  if (!out) throw_errno("write " + path.string(), "choose another path");
}

void create_file(const std::filesystem::path& path, std::string_view text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.valid() && errno == EEXIST)
    throw Error(ErrorKind::input, path.string() + ": file already exists",
                "choose another file with -o, or remove it");
  if (!file.valid()) throw_errno("create " + path.string());
  if (write_all(file.get(), text)) return;
  const int reason = errno;
  unlink(path.c_str());
  errno = reason;
  throw_errno("write " + path.string());
}

namespace {

/// Whether the file reads as `text`; false with errno 0 for other bytes.
bool reads_as(int file, std::string_view text) {
  std::string block(std::min<std::size_t>(text.size(), std::size_t{1} << 20) + 1, '\0');
  for (off_t at = 0;;) {
    const ssize_t got = pread(file, block.data(), block.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    errno = 0;
    const auto size = static_cast<std::size_t>(got);
    if (size == 0) return text.empty();
    if (text.substr(0, size) != std::string_view(block).substr(0, size)) return false;
    text.remove_prefix(size);
    at += got;
  }
}

}  // namespace

void replace_file(const std::filesystem::path& path, const std::string& text, mode_t mode) {
  // Not the extension of the file: node_exporter reads every *.prom in its folder.
  std::string temporary = path.string() + ".XXXXXX";
  const Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) throw_errno("create a temporary file next to " + path.string());
  if (write_all(file.get(), text) && fchmod(file.get(), mode) == 0 && fsync(file.get()) == 0 &&
      reads_as(file.get(), text) && std::rename(temporary.c_str(), path.c_str()) == 0)
    return sync_folder(path.parent_path());
  const int reason = errno == 0 ? EIO : errno;  // 0: other bytes were read back
  unlink(temporary.c_str());
  errno = reason;
  throw_errno("write " + path.string());
}

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor open_folder(
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool synced = open_folder.valid() && fsync(open_folder.get()) == 0;
  if (!synced && errno == EIO) throw_errno("sync folder " + folder.string());
}

std::string safe_file_name(std::string_view name) {
  std::string safe;
  for (const char c : name) {
    const bool plain =
        is_letter(c) || is_digit(c) || c == '_' || c == '-' || (c == '.' && !safe.empty());
    safe += plain ? c : '-';
  }
  constexpr std::size_t kDigest = 8, kLongest = 120;
  if (safe == name && safe.size() <= kLongest && !safe.empty() && safe != "index") return safe;
  return safe.substr(0, kLongest) + "-" + sha256(name).substr(0, kDigest);
}

}  // namespace bench
