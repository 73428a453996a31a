// Where the members of a tar lie: POSIX ustar with the long names of GNU (type L) and of pax (type
// x, "path"). Sizes in octal and, as GNU writes large ones, in base 256.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench::data {

inline constexpr std::uint64_t kTarBlock = 512;

struct TarMember {
  std::string name;  // of a regular file
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Fills a span from an offset of the file.
using ReadAt = std::function<void(std::uint64_t offset, std::span<std::byte> into)>;

/// The regular files of a tar of `size` bytes. Throws Error(input), which names `path`, the offset
/// and what is seen there, for a header whose checksum or numbers are wrong and a member that does
/// not lie in the file.
std::vector<TarMember> tar_members(const ReadAt& read, std::uint64_t size, const std::string& path);

/// A member's header, with checksum; nobody's, of no time.
std::vector<std::byte> tar_header(const std::string& name, std::uint64_t bytes);

}  // namespace bench::data
