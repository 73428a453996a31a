// With BENCH_FAULT=bit_flip in the environment, every procedure flips one bit of the data it
// verifies, and each series must then be invalid: scripts/gpu_check runs all of them this way and
// fails if one passes. With BENCH_FAULT=rare_flip only one of many products of a burn is damaged.
#pragma once

#include <cstddef>
#include <span>

namespace bench {

/// Flips the lowest bit of a byte of GPU memory, if requested. Waits for earlier writes.
void inject_fault_on_gpu(void* byte);

/// The same for BENCH_FAULT=rare_flip.
void inject_rare_fault_on_gpu(void* byte);

/// The same for a byte of host memory.
void inject_fault(void* byte);

/// Makes the first suitable value huge by flipping the top exponent bit of a number below 2, which
/// rounding cannot hide. Values of `size` bytes each, in host memory.
void inject_huge_value(std::span<std::byte> values, std::size_t size);

}  // namespace bench
