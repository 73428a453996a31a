// Row-wise Adagrad (one number of state a row, as FBGEMM's EXACT_ROWWISE_ADAGRAD) over the rows of
// a table that a batch has looked up: the gradients of a row's lookups are summed first, in the
// order of the samples, so that results depend on neither threads nor ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/training/kernels/kernel_set.h"
#include "probes/training/tables/table_rows.h"

namespace bench::training {

/// Where each row's sum is during an update; shared by the parts of a table, which have different
/// rows. -1 in between.
using RowSlots = std::vector<std::int32_t>;

struct RowGradients {
  BagIds ids;
  const float* gradients = nullptr;  // one row a bag
  std::int64_t stride = 0;           // elements from bag to bag
  double rate = 0.0;
  double scale = 1.0;  // of the gradients
  double epsilon = 1e-8;
};

/// The work of one thread: those rows of a table whose number, mod `parts`, is `part`.
class RowUpdate {
 public:
  RowUpdate(const TableRows& rows, RowSlots& slots, int part, int parts);

  void apply(const KernelSet& kernels, const RowGradients& what);
  const TableShard& shard() const { return rows_->shard(); }
  /// Lookups per sample that it visits, times its share of the rows.
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

}  // namespace bench::training
