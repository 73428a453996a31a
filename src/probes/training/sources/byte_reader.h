// Bounds-checked reads from an untrusted file.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/error.h"
#include "probes/training/sources/little_endian.h"

namespace bench::training {

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
