// Bounds-checked reads from an untrusted file.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/error.h"
#include "training/sources/random.h"

namespace bench::training {

/// The checksum of one sample's bytes and its number, so that another rank can generate a batch
/// again and compare. A batch's checksum is the sum (mod 2^64) of its samples': it depends neither
/// on their order nor on their split over ranks; a swapped, lost or repeated sample changes it.
std::uint64_t sample_checksum(Split split, std::uint64_t index, std::span<const std::byte> bytes);

template <class Element>
std::uint64_t sample_checksum(Split split, std::uint64_t index, std::span<Element> elements) {
  return sample_checksum(split, index, std::as_bytes(elements));
}

/// The little-endian number at `from`, which may be unaligned.
template <std::unsigned_integral Number>
constexpr Number little_endian(const std::byte* from) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value = static_cast<Number>(value |
                                static_cast<Number>(std::to_integer<Number>(from[i]) << (8 * i)));
  return value;
}

class ByteReader {
 public:
  /// Both must outlive this; `name` is for errors.
  ByteReader(std::span<const std::byte> bytes, const std::string& name)
      : bytes_(bytes), name_(name) {}

  /// Throws Error(input) unless [offset, offset + size) is inside the file.
  std::span<const std::byte> slice(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset)
      throw Error(ErrorKind::input,
                  fmt::format("{}: {} bytes at offset {} exceed the file size of {}", name_, size,
                              offset, bytes_.size()),
                  "the file is damaged or truncated: recreate or copy it again");
    return bytes_.subspan(offset, size);
  }
  template <class Number>
  Number number(std::uint64_t offset) const {
    return little_endian<Number>(slice(offset, sizeof(Number)).data());
  }
  std::string text(std::uint64_t offset, std::uint64_t size) const {
    const auto part = slice(offset, size);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
};

}  // namespace bench::training
