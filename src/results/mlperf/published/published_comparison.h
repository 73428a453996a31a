// Compares published systems and generations by score and by accelerator time, which MLPerf does
// not define. Two sides are compared by the same code as local runs (results/compare), so the
// verdicts mean the same.
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
  /// Ratio to the lowest accelerator minutes of the benchmark. Derived.
  double per_accelerator = kNoValue;
};

struct RankedBenchmark {
  std::string benchmark, division;
  std::vector<RankedEntry> entries;  // by score; entries without one last
};

/// One benchmark without a common accelerator count: the nearest systems.
struct PerAccelerator {
  std::string benchmark, system_a, system_b;
  double accelerators_a = kNoValue, accelerators_b = kNoValue;
  Ratio ratio = {};  // accelerator time, B over A, with Welch's interval; derived
};

struct PublishedComparison {
  std::string a = {}, b = {};
  Comparison comparison = {};  // of mlperf.scored_time at equal accelerator counts
  std::vector<PerAccelerator> unequal = {};
  /// Over all benchmarks, one ratio each: accelerator time, B over A. Derived.
  double geometric_mean = kNoValue;
  std::size_t benchmarks = 0;
  ExitCode exit_code() const;  // as in Comparison; 0 if only unequal counts are compared
};

std::vector<RankedBenchmark> ranked_benchmarks(const std::vector<PublishedEntry>& entries);

struct PublishedSide {
  std::string name;
  std::vector<PublishedEntry> entries;
};
/// Throws Error(input) with the side that has no scored result with an accelerator count.
PublishedComparison compare_published(const PublishedSide& a, const PublishedSide& b,
                                      const CompareOptions& options = {});

std::string to_text(const std::vector<RankedBenchmark>& ranked, const TextStyle& style);
std::string to_text(const PublishedComparison& comparison, const TextStyle& style);
/// schemas/report_mlperf_compare.json
Json to_json(const std::vector<RankedBenchmark>& ranked);
Json to_json(const PublishedComparison& comparison);
std::string to_html(const std::vector<RankedBenchmark>& ranked);

}  // namespace bench::mlperf
