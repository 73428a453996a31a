// The rows of one table that a rank holds: values, and what row-wise Adagrad keeps of each.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/training/engine/memory_block.h"
#include "probes/training/kernels/kernel_set.h"
#include "probes/training/tables/table_split.h"

namespace bench::training {

class TableRows {
 public:
  TableRows(const TableShard& shard, std::int64_t columns);

  const TableShard& shard() const { return shard_; }
  View values() const { return {values_.data(), shard_.rows, columns_, Dtype::f32}; }
  /// [rows, 1]: the sum of mean squares of a row's gradients.
  View state() const { return {state_.data(), shard_.rows, 1, Dtype::f32}; }
  std::int64_t bytes() const { return values_.bytes() + state_.bytes(); }

  /// Rows `from` to `to` - 1 of these get initial values, close to normal ones: a function of the
  /// seed, the table and the row alone.
  void fill(std::uint64_t seed, double deviation, std::int64_t from, std::int64_t to);
  /// Sum over those rows of a checksum that knows table and row: that of a table is the same in
  /// whatever way it is cut.
  std::uint64_t hash(std::int64_t from, std::int64_t to) const;

 private:
  TableShard shard_;
  std::int64_t columns_;
  MemoryBlock values_, state_;
};

}  // namespace bench::training
