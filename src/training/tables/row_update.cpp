#include "training/tables/row_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "training/sources/byte_reader.h"

namespace bench::training {
namespace {

constexpr std::int64_t kWatchedBags = 16;                 // of each update, spread over its samples
constexpr std::uint64_t kInitialValues = 0x7461626c6573;  // own seed: "tables"

std::uint64_t row_number(const TableShard& shard, std::int64_t row) {
  return static_cast<std::uint64_t>(shard.table) << 32 |
         static_cast<std::uint64_t>(shard.first_row + row);
}

}  // namespace

TableRows::TableRows(const TableShard& shard, std::int64_t columns)
    : shard_(shard),
      columns_(columns),
      values_(shard.rows * columns * static_cast<std::int64_t>(sizeof(float)), "embedding tables"),
      state_(shard.rows * static_cast<std::int64_t>(sizeof(float)), "embedding optimizer state") {}

void TableRows::fill(std::uint64_t seed, double deviation, std::int64_t from, std::int64_t to) {
  for (std::int64_t row = from; row < to; ++row) {
    const RandomStream stream = random_stream(seed ^ kInitialValues, row_number(shard_, row));
    float* out = values().as<float>() + row * columns_;
    for (std::int64_t i = 0; i < columns_; ++i)
      out[i] =
          static_cast<float>(deviation * random_normal(stream.key, static_cast<std::uint64_t>(i)));
  }
}

std::uint64_t TableRows::hash(std::int64_t from, std::int64_t to) const {
  std::uint64_t sum = 0;
  for (std::int64_t row = from; row < to; ++row) {
    const std::span<const float> numbers(values().as<float>() + row * columns_,
                                         static_cast<std::size_t>(columns_));
    const std::uint64_t number = row_number(shard_, row);
    sum += sample_checksum(Split::train, number, numbers);
    const std::span<const float> kept(state().as<float>() + row, 1);
    sum += sample_checksum(Split::evaluation, number, kept);  // another stream than the values'
  }
  return sum;
}

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

void TableWatch::remember(std::size_t shard, const TableRows& rows, const BagIds& ids) {
  remembered_.resize(std::max(remembered_.size(), shard + 1));
  Snapshot& seen = remembered_[shard];
  seen.rows.clear();
  seen.values.clear();
  const View values = rows.values();
  const std::int64_t count = std::min(kWatchedBags, ids.bags);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t bag = i * ids.bags / count;
    const std::int64_t row = ids.data[bag * ids.stride] - rows.shard().first_row;
    if (row < 0 || row >= values.rows) continue;
    seen.rows.push_back(row);
    const float* from = values.as<float>() + row * values.columns;
    seen.values.insert(seen.values.end(), from, from + values.columns);
  }
}

void TableWatch::compare(std::size_t shard, const TableRows& rows) {
  const Snapshot& seen = remembered_[shard];
  if (seen.rows.empty() || !found_.empty()) return;
  const View values = rows.values();
  const float* before = seen.values.data();
  for (const std::int64_t row : seen.rows) {
    const float* now = values.as<float>() + row * values.columns;
    if (!std::equal(now, now + values.columns, before)) return;
    before += values.columns;
  }
  found_ = fmt::format("update {} did not change table {}: {} looked-up rows are unchanged",
                       updates_, rows.shard().table, seen.rows.size());
}

}  // namespace bench::training
