// Keeps old runs small: of the raw samples of a series some are kept, in their order, and the
// summary of all of them stands behind them as facts, from which every later reading takes it. So
// reports, verdicts and a database made anew are as they were.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "results/series.h"

namespace bench {

/// Facts right behind the samples of the same job that they are the summary of.
inline constexpr const char* kThinnedTopic = "thinned_samples";

/// Everything of a series that is computed from its samples.
Json summary_json(const Series& series);
/// Puts it back. What is missing or damaged in it becomes kNoValue and an invalid series: never a
/// number that nobody measured.
void restore_summary(const Json& summary, Series& series);

struct Thinned {
  std::string text;
  std::size_t series = 0;   // that were thinned now
  std::size_t samples = 0;  // that went
};

/// `records`: the text of a records.jsonl. Series of more than `keep` samples keep so many, evenly
/// spread over their order, where that and the summary are shorter. All other lines, those too that
/// cannot be read, stay as they are, byte for byte; thinning what is thinned changes nothing.
Thinned thin_records(std::string_view records, std::size_t keep);

}  // namespace bench
