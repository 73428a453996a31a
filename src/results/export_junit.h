// A run as JUnit XML, for continuous integration.
#pragma once

#include <string>

#include "results/run_summary.h"

namespace bench {

/// One test suite with a test case per job and per gate. A failed or timed-out job is an error, a
/// wrong result a failure, a skip is skipped. A failed gate is a failure, a gate without data an
/// error, a gate with too wide an interval is skipped, so neither counts as passed. Bytes that XML
/// 1.0 cannot hold become U+FFFD.
std::string to_junit(const RunSummary& report);

}  // namespace bench
