// Distribution of embedding tables over ranks. Whole tables go to the least loaded rank; larger
// tables are split into one run of rows per rank.
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
  int first_table_id = 0;      // offset of the table's IDs in a sample
  int lookups = 1;             // of a sample
  std::int64_t ids_at = 0;     // offset of its IDs among those its rank receives per sample
  std::int64_t column_at = 0;  // offset of its sums among those its rank sends per sample
  bool first_of_table = true;  // sums of the others are added to this one's
};

struct TableSplit {
  int ranks = 1;
  std::vector<TableShard> shards = {};  // by rank, then table
  /// Per sample, for the most loaded rank: all exchanges have this size.
  std::int64_t ids = 0;
  std::int64_t columns = 0;
};

/// `columns` are those of every table. Tables of more than `whole_rows` rows are split; 0: those
/// with more than a rank's fair share of all rows, and more than a million. Throws Error(usage) for
/// a table without rows or lookups, or with more than 2^31 - 1 rows.
TableSplit split_tables(const std::vector<TableShape>& tables, std::int64_t columns, int ranks,
                        std::int64_t whole_rows = 0);

}  // namespace bench::training
