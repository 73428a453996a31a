#include "core/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::uint64_t kWindow = std::uint64_t{1} << 30;  // mapped at once; a multiple of any page

Descriptor open_file(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) throw_errno("open " + printable(path.string()));
  return file;
}

std::uint64_t resident_bytes(const Descriptor& file, std::uint64_t offset, std::uint64_t bytes,
                             const std::filesystem::path& path) {
  static const auto kPage = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  void* mapped =
      ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) throw_errno("map " + printable(path.string()));
  std::vector<unsigned char> pages((bytes + kPage - 1) / kPage);
  const int failed = ::mincore(mapped, bytes, pages.data());
  const int reason = errno;
  ::munmap(mapped, bytes);
  errno = reason;
  if (failed != 0)
    throw_errno("query which pages of " + printable(path.string()) + " are in memory");
  const auto resident =
      std::ranges::count_if(pages, [](unsigned char page) { return (page & 1u) != 0; });
  return std::min(bytes, static_cast<std::uint64_t>(resident) * kPage);
}

Residence residence_of(const Descriptor& file, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_errno("stat " + printable(path.string()));
  Residence found{static_cast<std::uint64_t>(status.st_size)};
  for (std::uint64_t offset = 0; offset < found.bytes; offset += kWindow)
    found.resident += resident_bytes(file, offset, std::min(kWindow, found.bytes - offset), path);
  return found;
}

}  // namespace

Residence residence(const std::filesystem::path& path) {
  return residence_of(open_file(path), path);
}

double evict(const std::filesystem::path& path) {
  const Descriptor file = open_file(path);
  // Dirty pages are not dropped. A read-only file system has none.
  if (::fsync(file.get()) != 0 && errno != EROFS && errno != EINVAL)
    throw_errno("write " + printable(path.string()) + " to its device");
  errno = ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  if (errno != 0) throw_errno("drop " + printable(path.string()) + " from the page cache");
  return residence_of(file, path).share();
}

}  // namespace bench
