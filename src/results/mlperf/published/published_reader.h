// Published entries from what was scored: `mlperf score` and the reports on scaling, comparisons
// and imports say the same of the same logs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/mlperf/published/published_entry.h"
#include "results/mlperf/score/submission_score.h"

namespace bench::mlperf {

std::vector<PublishedEntry> published_entries(const SubmissionScore& score);

/// Finds, scores and converts what lies below a path. Throws Error as find_submission() and
/// score_submission() do, and Error(input) where there is no folder with result_*.txt.
std::vector<PublishedEntry> read_published(const std::filesystem::path& path,
                                           const SubmissionScoreSettings& settings = {});

}  // namespace bench::mlperf
