#include "training/tables/table_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace bench::training {
namespace {

constexpr std::int64_t kBags = 16;  // of each update, spread over its samples

}  // namespace

void TableWatch::remember(std::size_t shard, const TableRows& rows, const BagIds& ids) {
  remembered_.resize(std::max(remembered_.size(), shard + 1));
  Snapshot& seen = remembered_[shard];
  seen.rows.clear();
  seen.values.clear();
  const View values = rows.values();
  for (std::int64_t i = 0; i < std::min(kBags, ids.bags); ++i) {
    const std::int64_t bag = i * ids.bags / std::min(kBags, ids.bags);
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
