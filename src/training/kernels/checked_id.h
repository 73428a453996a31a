// Checks IDs before a table lookup: one out of range would read other memory.
#pragma once

#include <cstdint>

#include "training/kernels/view.h"

namespace bench::training {

/// Throws Error(input) naming the row, the id and the size of the table.
[[noreturn]] void refuse_id(std::int64_t row, std::int64_t id, std::int64_t rows);

inline std::int64_t checked_id(View ids, std::int64_t row, std::int64_t rows) {
  const std::int64_t id = ids.as<std::int32_t>()[row];
  if (id < 0 || id >= rows) refuse_id(row, id, rows);
  return id;
}

}  // namespace bench::training
