// Reads the spool of a run (records.jsonl), which a kill may have torn.
#pragma once

#include <istream>

#include "results/run_records.h"

namespace bench {

/// Appends its records to `run`, and a warning for each line that cannot be read. `file` can be
/// rewound.
void read_spool(std::istream& file, RunRecords& run);

}  // namespace bench
