// A run for other programs: one row or object per series.
#pragma once

#include <string>
#include <vector>

#include "results/run_summary.h"

namespace bench {

/// RFC 4180 with a header whose first columns are those of `import csv`. Lines end in CRLF, times
/// are RFC 3339, missing values are empty. Jobs that ended without a metric are omitted.
std::string to_csv(const RunSummary& report);

/// The columns of to_csv, in order.
std::vector<std::string> csv_columns();

/// One JSON object per line: the results of the report with `run`, `suite` and `time`, including
/// jobs that ended without a metric. With `samples` (the records of the report), each object also
/// has `values` (null where not a number) and `flags`, in measurement order.
std::string to_jsonl(const RunSummary& report, const RunRecords* samples = nullptr);

}  // namespace bench
