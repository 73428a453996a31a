// A zip of arrays as numpy.savez and savez_compressed write it: members stored (used in place) or
// deflated (unpacked when read), also in zip64, which savez uses above 4 GB. Encrypted members and
// multi-disk archives are refused. (PKWARE's APPNOTE 6.3, sections 4.3 and 4.5.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench::training {

/// One array in NumPy's format (.npy, versions 1 to 3: numpy/lib/format.py), in its file's memory.
struct NpyArray {
  /// NumPy's kind and bytes of an element: 'f' float, 'i' and 'u' integers, 'b' bool.
  char kind = 'f';
  std::size_t width = 4;
  std::vector<std::uint64_t> shape = {};  // the last varies fastest; none: one element
  std::span<const std::byte> data = {};   // borrowed; little-endian

  std::uint64_t elements() const { return data.size() / width; }
  /// Element `index` of the flat array. f32, f64 and integers up to 2^53 are exact.
  double number(std::uint64_t index) const;
  /// The same for integers or bools; u64 above 2^63 wraps.
  std::int64_t integer(std::uint64_t index) const;
};

/// Throws Error(input), with `name`, the value seen and a remedy, for: no magic, another version, a
/// damaged header, big-endian or Fortran order, types other than f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1,
/// and data of another size than the shape requires.
NpyArray read_npy(std::span<const std::byte> bytes, const std::string& name);

class NpzFile {
 public:
  /// Reads the list of members. `bytes` must outlive this; `path` is for errors. Throws
  /// Error(input) if it is not a zip archive or members exceed it.
  NpzFile(std::span<const std::byte> bytes, const std::string& path);

  /// Of the members, without ".npy".
  std::vector<std::string> names() const;
  bool has(const std::string& name) const;
  /// The array `name`, valid as long as this object and the file's bytes. Throws Error(input) if
  /// there is no such member, or its method, size, checksum (CRC-32) or array is invalid.
  NpyArray array(const std::string& name);

 private:
  struct Member {
    std::string name;
    std::uint16_t flags = 0, method = 0;
    std::uint32_t checksum = 0;
    std::uint64_t packed = 0, size = 0, header = 0;  // bytes; offset of its local header
  };
  const Member* find(const std::string& name) const;
  std::span<const std::byte> packed(const Member& member) const;

  std::span<const std::byte> bytes_;
  std::string path_;
  std::vector<Member> members_;
  std::vector<std::vector<std::byte>> unpacked_;
};

}  // namespace bench::training
