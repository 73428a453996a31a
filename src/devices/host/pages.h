// Anonymous memory with a requested page size and NUMA node, which are checked: the kernel need not
// comply.
#pragma once

#include <cstddef>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>

#include "devices/memory.h"

namespace bench {

/// A writable range between two guard pages, so that the kernel accounts for it separately and
/// overruns crash instead of corrupting results. Not touched yet: the thread that first writes a
/// page decides its node, unless `node` is given.
class PageMapping {
 public:
  /// `bytes` is rounded up to whole pages. Throws Error(environment) if the memory cannot be
  /// allocated or bound.
  PageMapping(std::size_t bytes, Pages pages, std::optional<int> node = {});
  ~PageMapping();
  PageMapping(const PageMapping&) = delete;
  PageMapping& operator=(const PageMapping&) = delete;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Share of the first `used` bytes (those touched) in huge pages, by /proc/self/smaps; 0 if
  /// unreadable.
  double huge_share(std::size_t used) const;

 private:
  void* reserved_ = nullptr;
  std::size_t reserved_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Size of a transparent huge page; 2 MiB if unknown.
std::size_t huge_page_bytes();

/// Why the kernel never provides huge pages; "" if it may.
std::string no_huge_pages(const std::filesystem::path& root = "/");

/// Bytes in huge pages of the mappings within [begin, end), from the text of a smaps file.
double huge_bytes(std::istream& smaps, std::uintptr_t begin, std::uintptr_t end);

}  // namespace bench
