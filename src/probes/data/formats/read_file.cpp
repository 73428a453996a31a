#include "probes/data/formats/file_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "core/error.h"
#include "core/text.h"

namespace bench::data {

ReadFile::ReadFile(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  const std::string name = printable(path.string());
  if (!file_.valid()) throw_errno("open " + name);
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) throw_errno("look at " + name);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::input, name + " is no regular file",
                "name a file, not a folder or pipe");
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void ReadFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("read " + printable(path_.string()));
    if (got == 0)
      throw Error(ErrorKind::input,
                  fmt::format("{} ends {} bytes before what should be read at offset {} does",
                              printable(path_.string()), into.size(), offset),
                  "it was cut short: make or copy it again");
    offset += static_cast<std::uint64_t>(got);
    into = into.subspan(static_cast<std::size_t>(got));
  }
}

std::vector<std::filesystem::path> files_ending(const std::filesystem::path& folder,
                                                const std::vector<std::string>& endings) {
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  if (error)
    throw Error(ErrorKind::environment,
                "cannot read the folder " + printable(folder.string()) + ": " + error.message());
  std::vector<std::filesystem::path> found;
  for (const auto& entry : at) {
    const std::string name = entry.path().filename().string();
    const bool fits = std::ranges::any_of(
        endings, [&](const std::string& ending) { return name.ends_with(ending); });
    if (fits && entry.is_regular_file(error)) found.push_back(entry.path());
  }
  if (found.empty())
    throw Error(ErrorKind::input,
                fmt::format("{}: no file that ends in {}", printable(folder.string()),
                            join(endings, " or ")),
                "name a folder that holds the data set");
  std::ranges::sort(found);
  return found;
}

}  // namespace bench::data
