// A read-only memory-mapped file. The file must not change while mapped: truncating it ends the
// process (SIGBUS).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace bench::training {

class MappedFile {
 public:
  /// Throws Error(environment) if it cannot be opened, Error(input) if it is not a regular file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace bench::training
