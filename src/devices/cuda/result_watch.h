// Compares every result of a repeated call with the first one, on the GPU. A faulty chip may be
// wrong once in a million calls, and a result that the host fetches now and then would miss it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "devices/cuda/cuda_error.h"

namespace bench {

class ResultWatch {
 public:
  /// Takes the result at `result` as the right one. `bytes`: a multiple of 16. Waits for the
  /// stream.
  ResultWatch(const void* result, std::size_t bytes, cudaStream_t stream);

  /// Enqueues the comparison of a result.
  void compare(const void* result);
  /// The digest of the right result, which the host verifies (result_digest.h).
  std::uint64_t digest() const { return expected_; }
  /// How many of the results compared so far differ in any bit. Waits for the stream.
  std::int64_t different();

 private:
  std::size_t bytes_;
  cudaStream_t stream_;
  DeviceMemory sums_, different_;
  std::uint64_t expected_ = 0;
};

}  // namespace bench
