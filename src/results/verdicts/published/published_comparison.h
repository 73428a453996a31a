// Compares published systems and generations by score and by accelerator time, which MLPerf does
// not define. Two sides are compared by the same code as local runs (results/compare), so the
// verdicts mean the same. A result with a log that an earlier result or the other side has too is
// left out, because copies of a log are one run.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/stats/means.h"
#include "results/verdicts/compare/compare.h"
#include "results/verdicts/compare/ladder.h"
#include "results/verdicts/published/published_entry.h"

namespace bench::mlperf {

/// One system among those of its benchmark and division.
struct RankedEntry {
  PublishedEntry entry;
  double accelerator_minutes = kNoValue;  // derived
  /// Ratio to the lowest accelerator minutes of the benchmark. Derived.
  double per_accelerator = kNoValue;
  double cost = kNoValue;        // of one run, score x accelerators x price; derived
  double cost_ratio = kNoValue;  // to the lowest cost of the benchmark; derived
};

/// Whether each of the words begins a word of the accelerator's name: "h100-sxm" is NVIDIA
/// H100-SXM5-80GB, and "b200" is no GB200.
bool names_accelerator(const PublishedEntry& entry, const std::string& words);

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
  std::vector<std::string> warnings =
      {};                      // copied logs, and several accelerators as one; printable
  ExitCode exit_code() const;  // as in Comparison; 0 if only unequal counts are compared
};

/// `prices`: of an accelerator for an hour, by words that name it (names_accelerator()).
std::vector<RankedBenchmark> ranked_benchmarks(const std::vector<PublishedEntry>& entries,
                                               const Prices& prices = {});

struct PublishedSide {
  std::string name;
  std::vector<PublishedEntry> entries;
};
/// Throws Error(input) with the side that has no scored result with an accelerator count and logs
/// of its own.
PublishedComparison compare_published(const PublishedSide& a, const PublishedSide& b,
                                      const CompareOptions& options = {});

}  // namespace bench::mlperf
