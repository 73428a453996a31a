// Algorithms proposed by cuBLASLt for a product, and their names.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "devices/cuda/cublas_descriptors.h"

namespace bench {

/// Best first according to the library; may be empty.
std::vector<cublasLtMatmulAlgo_t> cublas_algorithms(cublasLtHandle_t handle,
                                                    const CublasDescription& product,
                                                    std::size_t workspace_bytes, int wanted);

/// The index below `count` with the smallest median of `rounds` timings, an even number; the first
/// of equals, 0 of none. Candidates take turns, every other round backwards, so that a clock that
/// falls while the chip warms up slows all of them alike. The library orders its proposals
/// correctly nine times in ten.
std::size_t fastest(std::size_t count, int rounds,
                    const std::function<double(std::size_t)>& seconds_of);

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
