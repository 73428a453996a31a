// One array of NumPy's format (.npy, versions 1 to 3: numpy/lib/format.py), in the memory of its
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench::training {

struct NpyArray {
  /// NumPy's kind and bytes of an element: 'f' float, 'i' and 'u' integers, 'b' bool.
  char kind = 'f';
  std::size_t width = 4;
  std::vector<std::uint64_t> shape = {};  // the last varies fastest; none: one element
  std::span<const std::byte> data = {};   // borrowed; little-endian

  std::uint64_t elements() const { return data.size() / width; }
  /// Element `index` of the flat array. f32, f64 and integers up to 2^53 are exact.
  double number(std::uint64_t index) const;
  /// The same of an array of integers or bools; u64 above 2^63 wraps.
  std::int64_t integer(std::uint64_t index) const;
};

/// Throws Error(input), which names `name`, the value seen and a cure, for: no magic, another
/// version, a damaged header, big-endian or Fortran order, types other than f4 f8 i1 i2 i4 i8 u1 u2
/// u4 u8 b1, and data that are not as many as the shape says.
NpyArray read_npy(std::span<const std::byte> bytes, const std::string& name);

}  // namespace bench::training
