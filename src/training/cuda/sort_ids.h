// Ids in order, so that the rows of a table's gradient are summed in one order without atomics.
#pragma once

#include <cstdint>
#include <utility>

#include "training/cuda/device_context.h"

namespace bench::training {

/// Ids ascending and the position each had, both on the device, until the next call; equal ids stay
/// in order. Ids that a table of `table_rows` lacks become table_rows.
std::pair<const std::int32_t*, const std::int32_t*> sort_ids(DeviceContext& context,
                                                             const std::int32_t* ids,
                                                             std::int64_t count,
                                                             std::int64_t table_rows);

}  // namespace bench::training
