// Whether updates change the tables that they are about: a few of the rows that were looked up, of
// each table in each update. A model hardly misses a table that learns only now and then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/training/kernels/bag.h"
#include "probes/training/tables/table_rows.h"

namespace bench::training {

class TableWatch {
 public:
  /// Before an update: of the rows here that `ids` look up, by shard.
  void remember(std::size_t shard, const TableRows& rows, const BagIds& ids);
  /// After it. What is found first is kept.
  void compare(std::size_t shard, const TableRows& rows);
  void end_update() { ++updates_; }

  std::int64_t updates() const { return updates_; }
  /// "" where every table has changed in every update.
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
