// How much of a data set the kernel keeps in memory, and how to make it let go. Without this a
// "storage" figure is one of memory. What lies below the guest (a hypervisor's cache, a file
// server's) is neither seen nor emptied.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace bench::data {

struct Residence {
  std::uint64_t bytes = 0;     // of the files
  std::uint64_t resident = 0;  // by whole pages, as mincore tells
  double share() const {
    return bytes == 0 ? 0.0 : static_cast<double>(resident) / static_cast<double>(bytes);
  }
};

/// Of all files, or of at most `most_files` spread over them. Throws Error(environment).
Residence residence(const std::vector<std::filesystem::path>& files, std::size_t most_files = 4096);

/// Writes back what is dirty and asks the kernel to drop all pages. It ignores that, and says
/// nothing, for pages that any process has mapped: look at residence() afterwards.
void evict(const std::vector<std::filesystem::path>& files);

/// Of a mapped file: the kernel may begin to read these bytes, all of them at once. Without it a
/// page that is looked at is read with its neighbours on both sides, wanted or not.
void will_need(std::span<const std::byte> mapped);

/// Of a mapped file: looks at a byte of each page, so that all of these bytes have been read when
/// it returns.
void touch_pages(std::span<const std::byte> mapped);

/// Of a mapped file: this process holds none of its pages until it looks at them again.
void release_pages(std::span<const std::byte> mapped);

/// Bytes that the disk under a path has read since boot; nothing where the kernel does not tell (a
/// network or overlay file system, a container).
std::optional<double> device_bytes_read(const std::filesystem::path& path);

}  // namespace bench::data
