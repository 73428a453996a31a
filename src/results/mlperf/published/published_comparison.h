// Published systems and generations against each other: what was scored in all, and what that is
// per accelerator, which MLPerf does not define. Two sides are compared by the same code as our own
// runs (results/compare), so the verdicts mean the same.
#pragma once

#include <string>
#include <vector>

#include "results/compare/compare.h"
#include "results/mlperf/published/published_entry.h"
#include "results/reports/text_style.h"
#include "results/scaling/efficiency.h"

namespace bench::mlperf {

/// One system among those of its benchmark and division.
struct RankedEntry {
  PublishedEntry entry;
  double accelerator_minutes = kNoValue;  // derived
  /// Over the fewest accelerator minutes of the benchmark: what it needs more. Derived.
  double per_accelerator = kNoValue;
};

struct RankedBenchmark {
  std::string benchmark, division;
  std::vector<RankedEntry> entries;  // by score; those without one last
};

/// One benchmark on two sides that have no number of accelerators in common: their nearest ones.
struct PerAccelerator {
  std::string benchmark, system_a, system_b;
  double accelerators_a = kNoValue, accelerators_b = kNoValue;
  Ratio ratio = {};  // of accelerator time, B over A, with Welch's interval; derived
};

struct PublishedComparison {
  std::string a = {}, b = {};
  Comparison comparison = {};  // of mlperf.scored_time at equal numbers of accelerators
  std::vector<PerAccelerator> unequal = {};
  /// Over all that is listed, one ratio a benchmark: B over A in accelerator time. Derived.
  double geometric_mean = kNoValue;
  std::size_t benchmarks = 0;
  ExitCode exit_code() const;  // as Comparison's; 0 where only unequal numbers are compared
};

std::vector<RankedBenchmark> ranked_benchmarks(const std::vector<PublishedEntry>& entries);

struct PublishedSide {
  std::string name;
  std::vector<PublishedEntry> entries;
};
/// Throws Error(input) naming the side on which nothing has a score and accelerators.
PublishedComparison compare_published(const PublishedSide& a, const PublishedSide& b,
                                      const CompareOptions& options = {});

std::string to_text(const std::vector<RankedBenchmark>& ranked, const TextStyle& style);
std::string to_text(const PublishedComparison& comparison, const TextStyle& style);
/// schemas/report_mlperf_compare.json
Json to_json(const std::vector<RankedBenchmark>& ranked);
Json to_json(const PublishedComparison& comparison);
std::string to_html(const std::vector<RankedBenchmark>& ranked);

}  // namespace bench::mlperf
