#include "probes/data/formats/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/error.h"
#include "core/text.h"

namespace bench::data {

ReadFile::ReadFile(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!file_.valid()) throw_errno("open " + printable(path.string()));
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) throw_errno("stat " + printable(path.string()));
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::input, printable(path.string()) + " is not a regular file",
                "give a regular file");
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void ReadFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("read " + printable(path_.string()));
    if (got == 0)
      throw Error(ErrorKind::input,
                  fmt::format("{} is {} bytes too short for the read at offset {}",
                              printable(path_.string()), into.size(), offset),
                  "the file is truncated: generate or copy it again");
    offset += static_cast<std::uint64_t>(got);
    into = into.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace bench::data
