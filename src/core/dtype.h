// Element types of probes, with their common names.
#pragma once

#include <cstddef>
#include <string_view>

namespace bench {

/// mxfp8 and nvfp4 are elements (e4m3, e2m1) with a scale per block: core/block_scaled.h.
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
/// Bytes per element in memory: tf32 is stored as f32; nvfp4, which devices pack in pairs, as one
/// byte.
std::size_t size_of(Dtype dtype);
bool is_integer(Dtype dtype);

}  // namespace bench
