#include "probes/storage/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "core/error.h"
#include "probes/storage/storage_file.h"

namespace bench::storage {
namespace {

constexpr std::uint64_t kWindow = std::uint64_t{1} << 30;  // mapped at once; a multiple of any page

std::int64_t resident_pages(int file, std::uint64_t offset, std::uint64_t bytes,
                            const std::filesystem::path& path) {
  void* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) throw_errno("map " + path.string());
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  const int failed = ::mincore(mapped, bytes, pages.data());
  const int reason = errno;
  ::munmap(mapped, bytes);
  errno = reason;
  if (failed != 0) throw_errno("query which pages of " + path.string() + " are in memory");
  return std::ranges::count_if(pages, [](unsigned char one) { return (one & 1u) != 0; });
}

}  // namespace

double resident_share(const std::filesystem::path& path) {
  const StorageFile file(path, Access::buffered, OpenFor::reading);
  const std::uint64_t all = file.bytes();
  if (all == 0) return 0.0;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::int64_t resident = 0;
  for (std::uint64_t offset = 0; offset < all; offset += kWindow)
    resident += resident_pages(file.descriptor(), offset, std::min(kWindow, all - offset), path);
  return static_cast<double>(resident) / static_cast<double>((all + page - 1) / page);
}

double evict(const std::filesystem::path& path) {
  {
    const StorageFile file(path, Access::buffered, OpenFor::reading);
    // Dirty pages are not dropped.
    if (::fsync(file.descriptor()) != 0) throw_errno("write " + path.string() + " to its device");
    const int refused = ::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
    if (refused != 0) {
      errno = refused;
      throw_errno("drop " + path.string() + " from the page cache");
    }
  }
  return resident_share(path);
}

}  // namespace bench::storage
