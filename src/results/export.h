// A run for other programs: one row or object per series.
#pragma once

#include <string>
#include <vector>

#include "results/run_summary.h"

namespace bench {

/// RFC 4180 with a header; begins with the columns that `import csv` takes. Lines end in CRLF;
/// times are RFC 3339; a value that does not exist is empty. Ends of jobs without a metric are left
/// out.
std::string to_csv(const RunSummary& report);

/// The columns of to_csv, in order.
std::vector<std::string> csv_columns();

/// One JSON object a line: the results of the report, with `run`, `suite` and `time`, jobs that
/// ended without a metric included. With `samples`, the records the report was made of, each has
/// `values` (null where one is no number) and `flags`, in the order in which they were taken.
std::string to_jsonl(const RunSummary& report, const RunRecords* samples = nullptr);

}  // namespace bench
