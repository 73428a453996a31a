// The rounds that a submission can belong to, by its benchmark folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/mlperf/rules/rule_set.h"
#include "results/mlperf/submission/submission.h"

namespace bench::mlperf {

/// `rule_set`: a version, which is returned, or "auto": the rule sets in `folder` with all
/// benchmarks of the submitters' folders, even if only a part of them is read; all rule sets if
/// none has them. Oldest first, at least one. Throws Error(input) for an unknown version.
std::vector<RuleSet> possible_rounds(const Submission& submission,
                                     const std::filesystem::path& folder,
                                     const std::string& rule_set);

}  // namespace bench::mlperf
