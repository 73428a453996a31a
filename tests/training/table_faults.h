// Faults of trainings with embedding tables, to put into their kernels.
#pragma once

#include <cstdint>

#include "training/kernels/kernel_set.h"

namespace bench::training {

/// Changes one ID in a hundred in place before rows are looked up by them.
void corrupt_ids(KernelSet& set);
/// Skips the table of so many rows in every second update.
void forget_updates(KernelSet& set, std::int64_t table_rows);

}  // namespace bench::training
