// Algorithms proposed by cuBLASLt for a product, and their names.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <string>
#include <vector>

#include "devices/cuda/cublas_descriptors.h"

namespace bench {

/// Best first according to the library, which is right nine times in ten; may be empty.
std::vector<cublasLtMatmulAlgo_t> cublas_algorithms(cublasLtHandle_t handle,
                                                    const CublasDescription& product,
                                                    std::size_t workspace_bytes, int wanted);

/// Settings that determine the summation order: equal settings give bit-identical products with the
/// same library and chip. Numbers are those of cuBLASLt.
struct CublasAlgorithm {
  int id = 0;
  int tile = 0, stages = 0, inner = 0, cluster = 0;
  int splits = 1, reduction = 0;
  int swizzle = 0, option = 0;
};
CublasAlgorithm configuration_of(const cublasLtMatmulAlgo_t& algorithm);
/// "algorithm 66, tile 20, stages 36, cluster 3": defaults are omitted.
std::string to_string(const CublasAlgorithm& algorithm);

}  // namespace bench
