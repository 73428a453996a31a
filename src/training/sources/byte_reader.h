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

// A checksum of training data, so that another rank can make a batch again and compare. That of a
// batch is the sum (mod 2^64) of its samples': in any order, split over ranks in any way, it is the
// same; two samples that changed places, one lost or one twice change it.

/// Of the bytes of one sample and of which one it is.
std::uint64_t sample_checksum(Split split, std::uint64_t index, std::span<const std::byte> bytes);

template <class Element>
std::uint64_t sample_checksum(Split split, std::uint64_t index, std::span<Element> elements) {
  return sample_checksum(split, index, std::as_bytes(elements));
}

// Numbers as files have them, at any address.

/// The little-endian number at `from`; sizeof(Number) bytes must be there.
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
  /// Both are borrowed; `name` is for errors.
  ByteReader(std::span<const std::byte> bytes, const std::string& name)
      : bytes_(bytes), name_(name) {}

  /// Throws Error(input) where [offset, offset + size) does not lie in the file.
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
