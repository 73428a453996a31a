// Shrinks old runs: keeps some raw samples of each series in order, followed by facts with the
// summary of all samples, which later reads use. Reports, verdicts and a rebuilt database stay the
// same.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "results/run/series.h"

namespace bench {

/// Facts that directly follow the samples they summarise.
inline constexpr const char* kThinnedTopic = "thinned_samples";

/// Everything of a series that is computed from its samples.
Json summary_json(const Series& series);
/// Restores the summary. Missing or corrupt fields become kNoValue and an invalid series, never a
/// made-up number.
void restore_summary(const Json& summary, Series& series);

struct Thinned {
  std::string text;
  std::size_t series = 0;   // that were thinned now
  std::size_t samples = 0;  // that went
};

/// `records`: the text of a records.jsonl. Series with more than `keep` samples keep that many,
/// evenly spaced, if that and the summary are shorter. All other lines, including unreadable ones,
/// stay byte for byte; thinning is idempotent.
Thinned thin_records(std::string_view records, std::size_t keep);

/// Compares thinned records with the original, line by line, independent of how they were made:
/// each original line is there unchanged, or as samples that are part of the original's, of the
/// same job, followed by a summary that counts all of them. Throws Error(internal) for a
/// difference, naming the line.
void check_thinned(std::string_view original, std::string_view thinned);

}  // namespace bench
