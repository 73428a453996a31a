#include "training/tables/table_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace bench::training {
namespace {

constexpr std::int64_t kNeverCut = 1'000'000;  // rows; smaller tables fit on any rank

void check(const std::vector<TableShape>& tables) {
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (tables[i].rows < 1 || tables[i].rows >= std::int64_t{1} << 31 || tables[i].lookups < 1)
      throw Error(ErrorKind::usage,
                  fmt::format("table {} has {} rows and {} lookups per sample", i, tables[i].rows,
                              tables[i].lookups),
                  "use 1 to 2147483647 rows and at least one lookup");
}

std::int64_t fair_share(const std::vector<TableShape>& tables, int ranks) {
  std::int64_t rows = 0;
  for (const TableShape& table : tables) rows += table.rows;
  return std::max(kNeverCut, rows / ranks);
}

/// Assigns runs of rows to ranks, and counts the lookups of each rank per sample.
class Placing {
 public:
  Placing(const std::vector<TableShape>& tables, TableSplit& split)
      : tables_(tables), split_(split), load_(static_cast<std::size_t>(split.ranks)) {
    int ids = 0;
    for (const TableShape& table : tables) {
      first_id_.push_back(ids);
      ids += table.lookups;
    }
  }

  void cut(int table) {
    const TableShape& shape = tables_[static_cast<std::size_t>(table)];
    const auto edge = [&](int rank) { return shape.rows * rank / split_.ranks; };
    for (int rank = 0; rank < split_.ranks; ++rank)
      if (edge(rank) < edge(rank + 1)) place(table, rank, edge(rank), edge(rank + 1) - edge(rank));
  }
  void whole(int table) {
    const auto least = std::min_element(load_.begin(), load_.end()) - load_.begin();
    place(table, static_cast<int>(least), 0, tables_[static_cast<std::size_t>(table)].rows);
  }

 private:
  void place(int table, int rank, std::int64_t first, std::int64_t rows) {
    const auto at = static_cast<std::size_t>(table);
    split_.shards.push_back(
        {table, rank, first, rows, first_id_[at], tables_[at].lookups, 0, 0, first == 0});
    load_[static_cast<std::size_t>(rank)] += tables_[at].lookups;
  }

  const std::vector<TableShape>& tables_;
  TableSplit& split_;
  std::vector<std::int64_t> load_;
  std::vector<int> first_id_ = {};
};

void find_places(TableSplit& split, std::int64_t columns) {
  std::sort(split.shards.begin(), split.shards.end(), [](const auto& a, const auto& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.table < b.table;
  });
  std::int64_t ids = 0, column = 0;
  for (std::size_t i = 0; i < split.shards.size(); ++i) {
    TableShard& shard = split.shards[i];
    if (i > 0 && split.shards[i - 1].rank != shard.rank) ids = column = 0;
    shard.ids_at = ids;
    shard.column_at = column;
    split.ids = std::max(split.ids, ids += shard.lookups);
    split.columns = std::max(split.columns, column += columns);
  }
}

}  // namespace

TableSplit split_tables(const std::vector<TableShape>& tables, std::int64_t columns, int ranks,
                        std::int64_t whole_rows) {
  check(tables);
  const std::int64_t most = whole_rows > 0 ? whole_rows : fair_share(tables, ranks);
  TableSplit split;
  split.ranks = ranks;
  std::vector<int> order(tables.size());
  std::iota(order.begin(), order.end(), 0);
  const auto shape = [&](int table) { return tables[static_cast<std::size_t>(table)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return shape(a).lookups > shape(b).lookups;  // the longest first balances best
  });
  Placing placing(tables, split);
  for (const int table : order)
    if (ranks > 1 && shape(table).rows > most) placing.cut(table);
  for (const int table : order)
    if (ranks == 1 || shape(table).rows <= most) placing.whole(table);
  find_places(split, columns);
  return split;
}

}  // namespace bench::training
