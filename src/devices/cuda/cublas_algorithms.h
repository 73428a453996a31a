// The algorithms that cuBLASLt proposes for a product, and how one is named.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "devices/cuda/cublas_descriptors.h"

namespace bench {

/// The best first, by the library's own judgement; empty where it has none.
std::vector<cublasLtMatmulAlgo_t> cublas_algorithms(cublasLtHandle_t handle,
                                                    const CublasDescription& product,
                                                    std::size_t workspace_bytes, int wanted);

/// The number, below `count`, for which seconds_of says least; the first of equals, 0 of none. The
/// library's own order of its proposals is right nine times in ten.
std::size_t fastest(std::size_t count, const std::function<double(std::size_t)>& seconds_of);

/// What of an algorithm decides in which order it adds: the same words, the same bits of a product
/// with the same library on the same chip. Numbers are those of the library's own enumerations.
struct CublasAlgorithm {
  int id = 0;
  int tile = 0, stages = 0, inner = 0, cluster = 0;
  int splits = 1, reduction = 0;
  int swizzle = 0, option = 0;
};
CublasAlgorithm configuration_of(const cublasLtMatmulAlgo_t& algorithm);
/// "algorithm 66, tile 20, stages 36, cluster 3": what is at its default is left out.
std::string to_string(const CublasAlgorithm& algorithm);

}  // namespace bench
