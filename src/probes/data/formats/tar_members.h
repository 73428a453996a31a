// Finds the members of a tar: POSIX ustar with the long names of GNU (type L) and pax (type x,
// "path"). Sizes in octal or, as GNU writes large ones, in base 256.
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

/// The regular files of a tar of `size` bytes. Throws Error(input) with `path`, offset and value
/// for a header with a wrong checksum or invalid numbers and for a member that exceeds the file.
std::vector<TarMember> tar_members(const ReadAt& read, std::uint64_t size, const std::string& path);

/// The header of a member, with checksum, owner 0 and time 0.
std::vector<std::byte> tar_header(const std::string& name, std::uint64_t bytes);

}  // namespace bench::data
