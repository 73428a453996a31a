// A file that is read and written at offsets, past the page cache or through it. Everything throws
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

/// Told before each operation that changes files, by its name; tests end the process there.
using FileObserver = std::function<void(const std::string& operation)>;

/// direct: O_DIRECT, whose memory, offsets and lengths are multiples of kDirectAlignment.
enum class Access { direct, buffered };
inline constexpr NameTable<Access, 2> kAccesses{
    {{{Access::direct, "direct"}, {Access::buffered, "buffered"}}}};

enum class OpenFor { reading, writing, writing_anew };

class StorageFile {
 public:
  StorageFile(const std::filesystem::path& path, Access access, OpenFor purpose);

  /// A file that ends too early is an Error as well.
  void read(std::span<std::byte> into, std::uint64_t offset) const;
  void write(std::span<const std::byte> bytes, std::uint64_t offset);
  /// Room for so many bytes before they are written. False where the file system knows no such
  /// thing.
  bool preallocate(std::uint64_t bytes);
  /// Data, size and what is needed to find them, on the device.
  void sync();
  std::uint64_t bytes() const;
  int descriptor() const { return file_.get(); }

 private:
  std::string name_;
  Descriptor file_;
};

/// Makes names in a folder lasting: fsync of the folder itself.
void sync_folder(const std::filesystem::path& folder);

/// Why files in this folder cannot be written and read by direct I/O, in the kernel's words; ""
/// where they can. Tries it.
std::string no_direct_access(const std::filesystem::path& folder);

}  // namespace bench::storage
