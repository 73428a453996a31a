// Reads the spool of a run (records.jsonl), which a kill may have torn.
#pragma once

#include <string_view>

#include "results/run_records.h"

namespace bench {

/// Appends its records to `run`, and a warning for each line that cannot be read.
void read_spool(std::string_view text, RunRecords& run);

}  // namespace bench
