// Which rank holds which rows of which embedding table. Whole tables go to the rank that has least
// to do; a table too large for that is cut into runs of rows, one for each rank.
#pragma once

#include <cstdint>
#include <vector>

namespace bench::training {

struct TableShape {
  std::int64_t rows = 0;
  int lookups = 1;  // of a sample
};

/// The rows of a table that one rank holds.
struct TableShard {
  int table = 0;
  int rank = 0;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  int first_table_id = 0;      // where the table's ids begin in a sample
  int lookups = 1;             // of a sample
  std::int64_t ids_at = 0;     // where its ids begin among those its rank gets of a sample
  std::int64_t column_at = 0;  // where its sums begin among those its rank gives of a sample
  bool first_of_table = true;  // sums of the others are added to this one's
};

struct TableSplit {
  int ranks = 1;
  std::vector<TableShard> shards = {};  // by rank, then table
  /// Of a sample, for the rank that has most: every rank sends and gets as much, since exchanges
  /// are of one size.
  std::int64_t ids = 0;
  std::int64_t columns = 0;
};

/// `columns` are those of every table. Tables of more than `whole_rows` rows are cut; 0: those that
/// have more than a rank's fair share of all rows, and a million at least. Throws Error(usage) for
/// a table without rows or lookups, or more than 2^31 - 1 rows.
TableSplit split_tables(const std::vector<TableShape>& tables, std::int64_t columns, int ranks,
                        std::int64_t whole_rows = 0);

}  // namespace bench::training
