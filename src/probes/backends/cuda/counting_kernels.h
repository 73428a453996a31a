// Small kernels: words that depend on their place, and a counter of launches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace bench {

/// words[i] = random_bits(seed, i)
void launch_fill_words(std::uint64_t* words, std::uint64_t seed, std::size_t count,
                       cudaStream_t stream);

/// Adds the number of words that are not random_bits(seed, i).
void launch_count_wrong_words(const std::uint64_t* words, std::uint64_t seed, std::size_t count,
                              std::uint64_t* wrong, cudaStream_t stream);

/// Adds one to the counter and does nothing else.
void launch_add_one(std::uint64_t* counter, cudaStream_t stream);

}  // namespace bench
