// Row-wise Adagrad (one number of state per row, as FBGEMM's EXACT_ROWWISE_ADAGRAD) over the rows
// of a table that a batch has looked up: the gradients of a row's lookups are summed first, in the
// order of the samples, so that results depend on neither threads nor ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/kernels/kernel_set.h"
#include "training/kernels/memory.h"
#include "training/tables/table_split.h"

namespace bench::training {

/// The rows of one table that a rank holds: values and Adagrad state.
class TableRows {
 public:
  TableRows(const TableShard& shard, std::int64_t columns);

  const TableShard& shard() const { return shard_; }
  View values() const { return {values_.data(), shard_.rows, columns_, Dtype::f32}; }
  /// [rows, 1]: the sum of mean squares of a row's gradients.
  View state() const { return {state_.data(), shard_.rows, 1, Dtype::f32}; }
  std::int64_t bytes() const { return values_.bytes() + state_.bytes(); }

  /// Gives rows `from` to `to` - 1 of these approximately normal initial values, which depend only
  /// on the seed, the table and the row.
  void fill(std::uint64_t seed, double deviation, std::int64_t from, std::int64_t to);
  /// The sum of these rows' checksums, which include table and row: a table has the same sum
  /// however it is split.
  std::uint64_t hash(std::int64_t from, std::int64_t to) const;

 private:
  TableShard shard_;
  std::int64_t columns_;
  MemoryBlock values_, state_;
};

/// The slot of each row's sum during an update, else -1; shared by the parts of a table, which have
/// different rows.
using RowSlots = std::vector<std::int32_t>;

struct RowGradients {
  BagIds ids;
  const float* gradients = nullptr;  // one row per bag
  std::int64_t stride = 0;           // elements from bag to bag
  double rate = 0.0;
  double scale = 1.0;  // of the gradients
  double epsilon = 1e-8;
};

/// The work of one thread: the rows of a table whose number mod `parts` is `part`.
class RowUpdate {
 public:
  RowUpdate(const TableRows& rows, RowSlots& slots, int part, int parts);

  void apply(const KernelSet& kernels, const RowGradients& what);
  const TableShard& shard() const { return rows_->shard(); }
  /// Lookups per sample, times its share of the rows.
  double cost() const;

 private:
  void find_slots(const BagIds& ids);
  std::int32_t slot_of(std::int64_t row);

  const TableRows* rows_;
  RowSlots* slots_;
  int part_, parts_;
  std::vector<std::int32_t> touched_ = {};  // rows, by slot
  std::vector<std::int32_t> by_lookup_ = {};
  std::vector<float> sums_ = {};
};

/// Checks that updates change their tables, on a few looked-up rows of each table in each update. A
/// model still reaches its target with a table that is updated only sometimes.
class TableWatch {
 public:
  /// Call before an update: stores some of this shard's rows that `ids` look up.
  void remember(std::size_t shard, const TableRows& rows, const BagIds& ids);
  /// Call after the update. Keeps the first fault.
  void compare(std::size_t shard, const TableRows& rows);
  void end_update() { ++updates_; }

  std::int64_t updates() const { return updates_; }
  /// The first fault; "" if every update changed every table.
  const std::string& found() const { return found_; }

 private:
  struct Snapshot {
    std::vector<std::int64_t> rows = {};  // from the shard's first
    std::vector<float> values = {};
  };
  std::vector<Snapshot> remembered_ = {};
  std::int64_t updates_ = 0;
  std::string found_ = {};
};

}  // namespace bench::training
