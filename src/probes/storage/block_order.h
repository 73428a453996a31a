// In which order the blocks of a file are visited: one after another, or each once in an order that
// looks random and needs no memory.
#pragma once

#include <cstdint>

namespace bench::storage {

enum class Order { sequential, random };

class BlockOrder {
 public:
  /// Of `count` blocks, at least one.
  BlockOrder(Order order, std::uint64_t count, std::uint64_t seed);

  /// The block visited as number `visit`; after `count` visits each was there once, and it begins
  /// again.
  std::uint64_t at(std::uint64_t visit) const;
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t permuted(std::uint64_t value) const;

  Order order_;
  std::uint64_t count_;
  std::uint64_t seed_;
  unsigned half_bits_ = 1;
};

}  // namespace bench::storage
