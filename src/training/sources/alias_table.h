// Draws from any distribution in one table look-up (Walker 1977, Vose 1991), in integers: a weight
// is a number of 2^32 equally likely patterns, so the probabilities are known exactly, and a GPU
// that gets the same tables draws the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench::training {

/// Weights in the given proportions that sum to 2^32; at least 1 where the proportion is positive.
/// Two proportions or more must be positive, none negative.
std::vector<std::uint32_t> exact_weights(std::span<const double> proportions);

/// What drawing needs; plain pointers, so that a kernel can take it.
struct AliasView {
  struct Bucket {
    std::uint32_t own;    // how many patterns of this bucket are its own value
    std::uint32_t other;  // the value of the rest
  };
  const Bucket* buckets = nullptr;
  int bucket_bits = 0;  // a row has 2^bucket_bits of them

  constexpr std::uint32_t draw(std::size_t row, std::uint32_t bits) const {
    const int inside = 32 - bucket_bits;
    const auto bucket = static_cast<std::uint32_t>(std::uint64_t{bits} >> inside);
    const std::uint64_t offset = bits & ((std::uint64_t{1} << inside) - 1);
    const Bucket& found = buckets[(row << bucket_bits) + bucket];
    return offset < found.own ? bucket : found.other;
  }
};

class AliasTable {
 public:
  /// Rows for up to `values` values.
  explicit AliasTable(std::size_t values);

  /// Adds a row; `weights` sum to 2^32. Throws Error(internal) otherwise.
  void add(std::span<const std::uint32_t> weights);
  AliasView view() const { return {buckets_.data(), bucket_bits_}; }

 private:
  int bucket_bits_;
  std::vector<AliasView::Bucket> buckets_;
};

}  // namespace bench::training
