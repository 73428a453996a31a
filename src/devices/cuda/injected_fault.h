// A check that cannot fail shows nothing. With BENCH_FAULT=bit_flip in the environment every
// procedure flips one bit of what it has to verify, and each series must then be invalid:
// scripts/gpu_check runs all of them so, and fails when one passes.
#pragma once

#include <cstddef>
#include <span>

namespace bench {

/// Flips the lowest bit of a byte of the GPU's memory, if that is asked for. What was written there
/// before has ended when it returns.
void inject_fault_on_gpu(void* byte);

/// The same for a byte of host memory.
void inject_fault(void* byte);

/// Flips the bit behind the sign of the first value that this makes huge: of a floating-point
/// number below 2 the top bit of its exponent. What rounding might hide would prove nothing. Values
/// of `size` bytes each, in host memory.
void inject_huge_value(std::span<std::byte> values, std::size_t size);

}  // namespace bench
