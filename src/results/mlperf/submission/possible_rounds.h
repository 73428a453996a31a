// Which rounds a submission may be of, by the benchmarks that its folders are named after.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/mlperf/rules/rule_set.h"
#include "results/mlperf/submission/submission.h"

namespace bench::mlperf {

/// `rule_set` is a version, and that one is the answer; or "auto": those of `folder` that have all
/// benchmarks of the submitters' folders, also where only a part of them was asked for; all where
/// none has. Oldest first, at least one. Throws Error(input) for a version that is not known.
std::vector<RuleSet> possible_rounds(const Submission& submission,
                                     const std::filesystem::path& folder,
                                     const std::string& rule_set);

}  // namespace bench::mlperf
