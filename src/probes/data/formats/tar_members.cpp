#include "probes/data/formats/tar_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/text.h"

namespace bench::data {
namespace {

constexpr std::uint64_t kMostName = 4096;  // bytes of a long name's own member
constexpr std::size_t kNameAt = 0, kNameSize = 100, kSizeAt = 124, kSizeSize = 12;
constexpr std::size_t kSumAt = 148, kSumSize = 8, kTypeAt = 156, kPrefixAt = 345, kPrefixSize = 155;

using Header = std::array<char, kTarBlock>;

[[noreturn]] void damaged_tar(const std::string& path, std::uint64_t offset,
                              const std::string& what) {
  throw Error(ErrorKind::input,
              fmt::format("{}, offset {}: {}", printable(path), offset, printable(what)),
              "the tar file is damaged or truncated: generate or copy it again");
}

std::string_view text_of(const Header& header, std::size_t at, std::size_t size) {
  const std::string_view all(header.data() + at, size);
  return all.substr(0, all.find('\0'));
}

/// Octal digits between spaces, or base 256 behind a byte of 0x80.
std::optional<std::uint64_t> number_of(const Header& header, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  if (static_cast<unsigned char>(header.at(at)) == 0x80) {
    for (std::size_t i = at + 1; i < at + size; ++i) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(header.at(i));
    }
    return value;
  }
  bool digits = false;
  for (const char c : text_of(header, at, size)) {
    if (c == ' ' && !digits) continue;
    if (c == ' ') break;
    if (c < '0' || c > '7') return std::nullopt;
    digits = true;
    value = value << 3 | static_cast<std::uint64_t>(c - '0');
  }
  return digits ? std::optional(value) : std::nullopt;
}

/// The sum of the bytes, with the checksum field as spaces.
std::uint64_t sum_of(const Header& header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i)
    sum += i >= kSumAt && i < kSumAt + kSumSize ? std::uint64_t{' '}
                                                : static_cast<unsigned char>(header.at(i));
  return sum;
}

/// The last path in the lines "LENGTH KEY=VALUE\n" of a pax header.
std::string pax_path(std::string_view text) {
  std::string found;
  while (!text.empty()) {
    const auto space = text.find(' ');
    std::size_t length = 0;
    for (const char c : text.substr(0, space)) {
      if (c < '0' || c > '9' || length > text.size()) return found;
      length = 10 * length + static_cast<std::size_t>(c - '0');
    }
    if (space == std::string_view::npos || length <= space + 1 || length > text.size())
      return found;
    const std::string_view line = text.substr(space + 1, length - space - 2);
    if (line.starts_with("path=")) found = line.substr(5);
    text.remove_prefix(length);
  }
  return found;
}

std::string name_of(const Header& header) {
  const std::string_view prefix = text_of(header, kPrefixAt, kPrefixSize);
  const std::string name(text_of(header, kNameAt, kNameSize));
  const bool posix = std::string_view(header.data() + 257, 6) == std::string_view("ustar\0", 6);
  return posix && !prefix.empty() ? std::string(prefix) + "/" + name : name;
}

}  // namespace

std::vector<TarMember> tar_members(const ReadAt& read, std::uint64_t size,
                                   const std::string& path) {
  std::vector<TarMember> members;
  std::string long_name;
  for (std::uint64_t at = 0; at + kTarBlock <= size;) {
    Header header;
    read(at, std::as_writable_bytes(std::span(header)));
    if (std::ranges::all_of(header, [](char c) { return c == 0; })) break;  // its end
    if (number_of(header, kSumAt, kSumSize) != sum_of(header))
      damaged_tar(path, at, "invalid tar header: wrong checksum");
    const auto bytes = number_of(header, kSizeAt, kSizeSize);
    if (!bytes) damaged_tar(path, at, "invalid size field");
    const std::uint64_t data = at + kTarBlock;
    if (*bytes > size - data)
      damaged_tar(path, at, fmt::format("member of {} bytes in a file of {}", *bytes, size));
    const char type = header.at(kTypeAt);
    if (type == 'L' || type == 'x') {
      if (*bytes > kMostName * 16) damaged_tar(path, at, "name longer than 64 KiB");
      std::string text(*bytes, '\0');
      read(data, std::as_writable_bytes(std::span(text)));
      long_name = type == 'x' ? pax_path(text) : std::string(text.c_str());
    } else {
      if (type == '0' || type == '\0')
        members.push_back({long_name.empty() ? name_of(header) : long_name, data, *bytes});
      long_name.clear();
    }
    at = data + (*bytes + kTarBlock - 1) / kTarBlock * kTarBlock;
  }
  return members;
}

std::vector<std::byte> tar_header(const std::string& name, std::uint64_t bytes) {
  if (name.size() > kNameSize)
    throw Error(ErrorKind::internal, "name longer than 100 bytes: " + name);
  Header header{};
  const auto put = [&](std::size_t at, const std::string& text) {
    std::memcpy(header.data() + at, text.data(), text.size());
  };
  put(kNameAt, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(kSizeAt, fmt::format("{:011o}", bytes));
  put(136, "00000000000");
  put(kTypeAt, "0");
  put(257, std::string("ustar\0"
                       "00",
                       8));
  put(kSumAt, fmt::format("{:06o}", sum_of(header)) + '\0' + ' ');
  const auto raw = std::as_bytes(std::span(header));
  return {raw.begin(), raw.end()};
}

}  // namespace bench::data
