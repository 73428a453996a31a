#include "probes/training/tables/row_update.h"

#include <algorithm>

namespace bench::training {

RowUpdate::RowUpdate(const TableRows& rows, RowSlots& slots, int part, int parts)
    : rows_(&rows), slots_(&slots), part_(part), parts_(parts) {}

double RowUpdate::cost() const {
  return static_cast<double>(rows_->shard().lookups) / static_cast<double>(parts_);
}

std::int32_t RowUpdate::slot_of(std::int64_t row) {
  if (row < 0 || row >= rows_->shard().rows) return -1;  // another rank's
  if (parts_ > 1 && row % parts_ != part_) return -1;
  std::int32_t& slot = (*slots_)[static_cast<std::size_t>(row)];
  if (slot < 0) {
    slot = static_cast<std::int32_t>(touched_.size());
    touched_.push_back(static_cast<std::int32_t>(row));
  }
  return slot;
}

void RowUpdate::find_slots(const BagIds& ids) {
  touched_.clear();
  by_lookup_.resize(static_cast<std::size_t>(ids.bags * ids.lookups));
  std::size_t at = 0;
  for (std::int64_t bag = 0; bag < ids.bags; ++bag)
    for (std::int64_t i = 0; i < ids.lookups; ++i)
      by_lookup_[at++] = slot_of(ids.data[bag * ids.stride + i] - rows_->shard().first_row);
}

void RowUpdate::apply(const KernelSet& kernels, const RowGradients& what) {
  find_slots(what.ids);
  const std::int64_t columns = rows_->values().columns;
  const auto count = static_cast<std::int64_t>(touched_.size());
  sums_.resize(std::max(sums_.size(), touched_.size() * static_cast<std::size_t>(columns)));
  std::fill_n(sums_.begin(), count * columns, 0.0f);
  const View sums{sums_.data(), count, columns, Dtype::f32};
  kernels.bags->add({by_lookup_.data(), what.ids.bags, what.ids.lookups, what.ids.lookups},
                    what.gradients, what.stride, static_cast<float>(what.scale), sums);
  AdagradRows rows{
      rows_->values(), {touched_.data(), count, 1, Dtype::int32}, sums, rows_->state()};
  rows.rate = what.rate;
  rows.epsilon = what.epsilon;
  kernels.optimizer->adagrad_rows(rows);
  for (const std::int32_t row : touched_) (*slots_)[static_cast<std::size_t>(row)] = -1;
}

}  // namespace bench::training
