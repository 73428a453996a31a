// The element types a probe can be asked for, with the names the field uses.
#pragma once

#include <cstddef>
#include <string_view>

namespace bench {

/// mxfp8 and nvfp4 are elements (e4m3, e2m1) with a scale for each block: core/block_scaled.h.
enum class Dtype {
  f64,
  f32,
  tf32,
  bf16,
  f16,
  fp8_e4m3,
  fp8_e5m2,
  mxfp8,
  nvfp4,
  int8,
  int32,
  int64
};

std::string_view to_string(Dtype dtype);
/// Throws Error(input) for an unknown name.
Dtype dtype_from(std::string_view name);
/// Bytes of one element in memory; tf32 is stored as f32, and nvfp4, of which a device packs two
/// into a byte, as one.
std::size_t size_of(Dtype dtype);
bool is_integer(Dtype dtype);

}  // namespace bench
