// Anonymous memory whose page size and NUMA node are asked for and then checked: the kernel is free
// to give neither.
#pragma once

#include <cstddef>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>

#include "devices/memory.h"

namespace bench {

/// A readable and writable range between two guard pages, so that it is a mapping of its own in the
/// kernel's account and a write past its end is a crash and no wrong number. Nothing is touched
/// yet: the thread that writes a page first decides on which node it lies, unless `node` is given.
class PageMapping {
 public:
  /// `bytes` is rounded up to whole pages. Throws Error(environment) when the memory cannot be had
  /// or bound to the node.
  PageMapping(std::size_t bytes, Pages pages, std::optional<int> node = {});
  ~PageMapping();
  PageMapping(const PageMapping&) = delete;
  PageMapping& operator=(const PageMapping&) = delete;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Share of the first `used` bytes (those that were touched) in huge pages now, by
  /// /proc/self/smaps; 0 where that cannot be read.
  double huge_share(std::size_t used) const;

 private:
  void* reserved_ = nullptr;
  std::size_t reserved_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Size of a transparent huge page; 2 MiB where the kernel does not say.
std::size_t huge_page_bytes();

/// Why the kernel would give no huge page whoever asks; "" when it may.
std::string no_huge_pages(const std::filesystem::path& root = "/");

/// Bytes in huge pages of the mappings that lie in [begin, end), from the text of a smaps file.
double huge_bytes(std::istream& smaps, std::uintptr_t begin, std::uintptr_t end);

}  // namespace bench
