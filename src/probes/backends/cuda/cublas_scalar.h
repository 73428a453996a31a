// A scalar in the type that a product's alpha and beta have.
#pragma once

#include <cublasLt.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bench {

class CublasScalar {
 public:
  CublasScalar(cudaDataType_t type, double value) {
    if (type == CUDA_R_64F)
      put(value);
    else if (type == CUDA_R_32I)
      put(static_cast<std::int32_t>(value));
    else
      put(static_cast<float>(value));
  }
  /// For the host's pointer mode, which is cuBLASLt's own.
  const void* data() const { return bytes_.data(); }

 private:
  template <class T>
  void put(T value) {
    std::memcpy(bytes_.data(), &value, sizeof value);
  }
  alignas(8) std::array<std::byte, 8> bytes_{};
};

}  // namespace bench
