#include "probes/data/formats/page_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/system_files.h"
#include "core/text.h"
#include "training/sources/mapped_file.h"

namespace bench::data {
namespace {

constexpr std::size_t kSmallestPage = 4096;
constexpr double kSectorBytes = 512.0;  // of /sys/block/*/stat, whatever the disk's own are

std::uint64_t resident_pages(std::span<const std::byte> bytes, std::size_t page) {
  if (bytes.empty()) return 0;
  std::vector<unsigned char> pages((bytes.size() + page - 1) / page);
  if (::mincore(const_cast<std::byte*>(bytes.data()), bytes.size(), pages.data()) != 0)
    throw_errno("query the resident pages of a file");
  return static_cast<std::uint64_t>(
      std::ranges::count_if(pages, [](unsigned char one) { return (one & 1) != 0; }));
}

}  // namespace

Residence residence(const std::vector<std::filesystem::path>& files, std::size_t most_files) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t step =
      std::max<std::size_t>(1, files.size() / std::max<std::size_t>(most_files, 1));
  Residence found;
  for (std::size_t i = 0; i < files.size(); i += step) {
    const training::MappedFile file(files[i]);
    const auto bytes = file.bytes();
    found.bytes += bytes.size();
    found.resident += std::min<std::uint64_t>(bytes.size(), resident_pages(bytes, page) * page);
  }
  return found;
}

void evict(const std::vector<std::filesystem::path>& files) {
  for (const auto& path : files) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) throw_errno("open " + printable(path.string()));
    ::fsync(file.get());  // dirty pages stay; where it is refused residence() shows them
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

void will_need(std::span<const std::byte> mapped) {
  if (mapped.empty()) return;
  static const auto kPage = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped.data()) / kPage * kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(mapped.data()) + mapped.size();
  // Only advice: what it refuses is read page by page.
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_WILLNEED);
}

void touch_pages(std::span<const std::byte> mapped) {
  if (mapped.empty()) return;
  unsigned seen = std::to_integer<unsigned>(mapped.back());
  for (std::size_t at = 0; at < mapped.size(); at += kSmallestPage)
    seen += std::to_integer<unsigned>(mapped[at]);
  asm volatile("" : : "r"(seen));  // it is wanted
}

void release_pages(std::span<const std::byte> mapped) {
  if (!mapped.empty())
    ::madvise(const_cast<std::byte*>(mapped.data()), mapped.size(), MADV_DONTNEED);
}

std::optional<double> device_bytes_read(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  const auto text = SystemFiles().text(
      fmt::format("sys/dev/block/{}:{}/stat", major(status.st_dev), minor(status.st_dev)));
  if (!text) return std::nullopt;
  std::istringstream words(*text);
  double reads = 0, merged = 0, sectors = 0;
  if (!(words >> reads >> merged >> sectors)) return std::nullopt;
  return sectors * kSectorBytes;
}

}  // namespace bench::data
