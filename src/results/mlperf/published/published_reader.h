// Builds published entries from scores, so that scaling, comparison and import agree with `mlperf
// score`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/mlperf/published/published_entry.h"
#include "results/mlperf/score/submission_score.h"

namespace bench::mlperf {

std::vector<PublishedEntry> published_entries(const SubmissionScore& score);

/// Finds, scores and converts the results below a path. Throws like find_submission() and
/// score_submission(), and Error(input) if there is no folder with result_*.txt.
std::vector<PublishedEntry> read_published(const std::filesystem::path& path,
                                           const SubmissionScoreSettings& settings = {});

}  // namespace bench::mlperf
