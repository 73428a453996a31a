// Run report for the terminal: machine and warnings first, then each number with its interval,
// limit and problems.
#pragma once

#include <string>

#include "results/output/document/text_style.h"
#include "results/output/run/run_report.h"

namespace bench {

std::string to_text(const RunReport& report, const TextStyle& style);

// Parts of it.
std::string header_text(const RunReport& report, const TextStyle& style);
std::string gates_text(const RunReport& report, const TextStyle& style);
std::string hashes_text(const RunReport& report, const TextStyle& style);
std::string summary_text(const RunReport& report, const TextStyle& style);

}  // namespace bench
