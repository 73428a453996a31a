// Draws from any discrete distribution in one table lookup (Walker 1977, Vose 1991), in integers: a
// weight counts some of 2^32 equally likely patterns, so the probabilities are known exactly, and a
// GPU with the same tables draws the same values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench::training {

/// Weights in the given proportions that sum to 2^32; at least 1 where the proportion is positive.
/// At least two proportions must be positive, none negative.
std::vector<std::uint32_t> exact_weights(std::span<const double> proportions);

/// The data for drawing, as plain pointers for use in a kernel.
struct AliasView {
  struct Bucket {
    std::uint32_t own;    // number of patterns for the bucket's own value
    std::uint32_t other;  // the value of the other patterns
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

  /// Adds a row. Throws Error(internal) unless the weights sum to 2^32.
  void add(std::span<const std::uint32_t> weights);
  AliasView view() const { return {buckets_.data(), bucket_bits_}; }

 private:
  int bucket_bits_;
  std::vector<AliasView::Bucket> buckets_;
};

}  // namespace bench::training
