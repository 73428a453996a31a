// Steps of score_entry() in separate files.
#pragma once

#include <filesystem>
#include <vector>

#include "mlperf/score/entry_score.h"

namespace bench::mlperf {

/// The scored runs: all, or those of the window.
std::vector<ScoredRun*> chosen_runs(EntryScore& entry);

/// Sets rcp or rcp_why, what_if, and a problem if the test fails. Tests the closed division only.
void test_convergence(EntryScore& entry, const RcpSet* set, const ScoreSettings& settings);

/// Sets scaling_factor from file_factor and the test; warns if they differ.
void set_factor(EntryScore& entry);

/// Reads "scaling_factor" from a file; throws Error(input) if it is not a positive number.
double read_scaling_factor(const std::filesystem::path& path);

}  // namespace bench::mlperf
