#include "probes/data/formats/page_cache.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace bench::data {
namespace {

constexpr std::size_t kSmallestPage = 4096;

}  // namespace

Residence residence(const std::vector<std::filesystem::path>& files, std::size_t most_files) {
  const std::size_t step =
      std::max<std::size_t>(1, files.size() / std::max<std::size_t>(most_files, 1));
  Residence found;
  for (std::size_t i = 0; i < files.size(); i += step) {
    const Residence one = bench::residence(files[i]);
    found.bytes += one.bytes;
    found.resident += one.resident;
  }
  return found;
}

void evict(const std::vector<std::filesystem::path>& files) {
  for (const auto& path : files) bench::evict(path);
}

void will_need(std::span<const std::byte> mapped) {
  if (mapped.empty()) return;
  static const auto kPage = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped.data()) / kPage * kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(mapped.data()) + mapped.size();
  // Only advice: if refused, the bytes are read page by page.
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_WILLNEED);
}

void touch_pages(std::span<const std::byte> mapped) {
  if (mapped.empty()) return;
  unsigned seen = std::to_integer<unsigned>(mapped.back());
  for (std::size_t at = 0; at < mapped.size(); at += kSmallestPage)
    seen += std::to_integer<unsigned>(mapped[at]);
  asm volatile("" : : "r"(seen));  // the reads must happen
}

void release_pages(std::span<const std::byte> mapped) {
  if (!mapped.empty())
    ::madvise(const_cast<std::byte*>(mapped.data()), mapped.size(), MADV_DONTNEED);
}

}  // namespace bench::data
