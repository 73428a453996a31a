// Checks that the exchange of table gradients neither loses nor corrupts any.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "probes/training/tables/rank_exchange.h"
#include "probes/training/tables/sparse_tables.h"

namespace bench::training {

void SparseTables::exchange_gradients() {
  if (collected_ != batch_.count())
    throw Error(ErrorKind::internal,
                fmt::format("embedding tables received the gradients of {} samples, expected {}", collected_.load(),
                            batch_.count()),
                "call collect() once after each micro-batch's backward pass");
  collected_ = -1;
  if (!alone()) exchange(*group_, gradients_, received_, batch_.count() * split_.columns);
}

double SparseTables::gradient_distance(View gradient, int rank, std::uint64_t first) const {
  const std::int64_t begin = batch_.place(Split::train, first);
  double difference = 0.0, length = 0.0;
  for (const TableRows& rows : rows_)
    for (std::int64_t i = 0; i < gradient.rows; ++i) {
      const TableShard& shard = rows.shard();
      const float* right =
          gradient.as<float>() + i * gradient.columns + shard.table * options_.columns;
      const float* came = block(alone() ? gradients_ : received_, rank, begin + i) + shard.column_at;
      for (std::int64_t j = 0; j < options_.columns; ++j) {
        const double off = static_cast<double>(came[j]) - right[j];
        difference += off * off;
        length += static_cast<double>(right[j]) * right[j];
      }
    }
  const double relative = difference == 0.0 ? 0.0 : std::sqrt(difference / length);
  return std::isfinite(relative) ? relative : std::numeric_limits<double>::max();
}

}  // namespace bench::training
