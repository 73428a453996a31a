#include "probes/training/tables/table_rows.h"

#include <span>

#include "probes/training/sources/checksum.h"

namespace bench::training {
namespace {

constexpr std::uint64_t kInitialValues = 0x7461626c6573;  // a seed of their own: "tables"

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

}  // namespace bench::training
