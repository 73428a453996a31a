// A run as JUnit XML, for continuous integration.
#pragma once

#include <string>

#include "results/run_summary.h"

namespace bench {

/// One test suite; a test case a job, and one a gate. A job that failed or timed out is an error,
/// one with a wrong result a failure, a skip is skipped. A gate that fails is a failure, one that
/// had nothing to judge an error, one whose interval is too wide skipped: neither passed. All text
/// is escaped; bytes that XML 1.0 cannot hold become U+FFFD.
std::string to_junit(const RunSummary& report);

}  // namespace bench
