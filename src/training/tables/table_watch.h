// Checks that updates change their tables, on a few looked-up rows of each table in each update. A
// model still reaches its target with a table that is updated only sometimes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/kernels/kernel_set.h"
#include "training/tables/row_update.h"

namespace bench::training {

class TableWatch {
 public:
  /// Call before an update: stores some of this shard's rows that `ids` look up.
  void remember(std::size_t shard, const TableRows& rows, const BagIds& ids);
  /// Call after the update. Keeps the first fault.
  void compare(std::size_t shard, const TableRows& rows);
  void end_update() { ++updates_; }

  std::int64_t updates() const { return updates_; }
  /// The first fault; "" if every update changed every table.
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
