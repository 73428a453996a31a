// Steps of score_entry() that have files of their own.
#pragma once

#include <filesystem>
#include <vector>

#include "results/mlperf/score/entry_score.h"

namespace bench::mlperf {

/// Those that are scored: all, or the window's.
std::vector<ScoredRun*> chosen_runs(EntryScore& entry);

/// Sets rcp or rcp_why, what_if, and a problem where the test fails. Only the closed division is
/// tested.
void test_convergence(EntryScore& entry, const RcpSet* set, const ScoreSettings& settings);

/// scaling_factor from file_factor and the test; warns where they differ.
void set_factor(EntryScore& entry);

/// "scaling_factor" of a file; throws Error(input) for one that has no positive number there.
double read_scaling_factor(const std::filesystem::path& path);

}  // namespace bench::mlperf
