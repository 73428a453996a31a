// Reads and writes a file at offsets, by direct or buffered I/O. All functions throw
// Error(environment) with file, offset and the kernel's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "core/descriptor.h"
#include "core/names.h"

namespace bench::storage {

/// Called before each operation that changes files, with its name; tests kill the process there.
using FileObserver = std::function<void(const std::string& operation)>;

/// direct: O_DIRECT, whose memory, offsets and lengths are multiples of kDirectAlignment.
enum class Access { direct, buffered };
inline constexpr NameTable<Access, 2> kAccesses{
    {{{Access::direct, "direct"}, {Access::buffered, "buffered"}}}};

enum class OpenFor { reading, writing, writing_anew };

class StorageFile {
 public:
  StorageFile(const std::filesystem::path& path, Access access, OpenFor purpose);

  /// A file that ends early is an Error as well.
  void read(std::span<std::byte> into, std::uint64_t offset) const;
  void write(std::span<const std::byte> bytes, std::uint64_t offset);
  /// Reserves space for so many bytes. False if the file system does not support this.
  bool preallocate(std::uint64_t bytes);
  /// Makes data and the metadata needed to read it durable.
  void sync();
  std::uint64_t bytes() const;
  int descriptor() const { return file_.get(); }

 private:
  std::string name_;
  Descriptor file_;
};

/// Makes the names in a folder durable by an fsync of the folder.
void sync_folder(const std::filesystem::path& folder);

/// Why direct I/O does not work in this folder, in the kernel's words; "" if it does. Tries it.
std::string no_direct_access(const std::filesystem::path& folder);

}  // namespace bench::storage
