// One GPU thread that follows a chain of pointers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace bench {

/// Follows byte offsets from `*position` on, `loads` steps, and leaves where it stands there. Loads
/// go past the first cache, which is each multiprocessor's own.
void launch_chain(const std::byte* memory, std::uint64_t* position, std::int64_t loads,
                  cudaStream_t stream);

}  // namespace bench
