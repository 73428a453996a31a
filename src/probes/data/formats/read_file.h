// A file that threads read parts of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/descriptor.h"

namespace bench::data {

class ReadFile {
 public:
  /// Throws Error(environment) where it cannot be opened, Error(input) for what is no regular file.
  explicit ReadFile(const std::filesystem::path& path);

  std::uint64_t size() const { return size_; }
  const std::filesystem::path& path() const { return path_; }
  /// Fills all of `into`; any number of threads at once. Throws Error(input) where the file ends
  /// before.
  void read(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace bench::data
