// Which sample stands at which place of an epoch: in order, or shuffled anew for each epoch, as a
// function of (seed, epoch, place) alone, so that any thread finds its samples by itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bench::data {

/// Of one epoch of `samples` samples. Shuffled, single samples take any place; where the data set
/// has blocks (shards, runs of lines) these do, and stay whole.
class SampleOrder {
 public:
  struct Shape {
    std::uint64_t samples = 0;
    /// The first sample of each block, from 0 on; empty: each sample is one.
    std::vector<std::uint64_t> blocks = {};
  };
  /// `shape` is borrowed.
  SampleOrder(const Shape& shape, bool shuffle, std::uint64_t seed, std::uint64_t epoch);

  std::uint64_t at(std::uint64_t place) const;
  /// Of the places from one on, as many as there is room for.
  void fill(std::uint64_t place, std::span<std::uint64_t> samples) const;

 private:
  std::uint64_t permuted(std::uint64_t place) const;
  /// The place of a block that a place of the epoch lies in.
  std::size_t block_at(std::uint64_t place) const;

  const Shape& shape_;
  bool shuffle_;
  std::uint64_t key_;
  unsigned half_bits_ = 1;                  // of the Feistel network's halves
  std::vector<std::uint64_t> block_ = {};   // by place of the epoch
  std::vector<std::uint64_t> starts_ = {};  // place at which each of these begins
};

}  // namespace bench::data
