// A run for other programs: one row or object per series.
#pragma once

#include <string>
#include <vector>

#include "results/run/run_summary.h"

namespace bench {

// A run as a Prometheus text file for node_exporter's textfile collector.

/// Gauges only, with help and type. One sample per result: benchctl_result_value with its interval,
/// share of its limit and outcome; one per gate; outcome, exit code and time of the run. Missing
/// values are omitted. Labels: suite, case, metric, params (JSON), unit, host, device, rank.
std::string to_prometheus(const RunSummary& report);

// A run as JUnit XML, for continuous integration.

/// One test suite with a test case per job and per gate. A failed or timed-out job is an error, a
/// wrong result a failure, a skip is skipped. A failed gate is a failure; a gate or job without
/// clean data and a damaged plan or spool are errors; a gate with too wide an interval is skipped.
/// Bytes that XML 1.0 cannot hold become U+FFFD.
std::string to_junit(const RunSummary& report);

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
