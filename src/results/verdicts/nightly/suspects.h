// Suspicions from a night's run: failed jobs, wrong results, and values worse than the history of
// the host. They are rerun before there is a verdict.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "results/run/run_summary.h"
#include "results/verdicts/nightly/finding.h"
#include "results/verdicts/nightly/past.h"
#include "results/verdicts/regression/regression.h"

namespace bench {

/// Run values of a series before the night, oldest first.
using HistoryOf = std::function<std::vector<double>(const SeriesIdentity&)>;

/// CPU quotas of the host's cgroup in the last runs before the night, in cores; infinite for none.
using QuotasOf = std::function<std::vector<double>(const std::string& host)>;

struct SuspicionRule {
  double q = 0.05;                                // expected false discovery rate of `slower`
  std::size_t fewest_runs = 8;                    // of history
  std::map<std::string, double> thresholds = {};  // user-defined, by full metric name
};

/// Tolerance of the metric, a share: user-defined, else as declared.
double threshold_of(const std::string& metric, const SuspicionRule& rule);

struct Suspicions {
  std::vector<NightFinding> findings;  // most certain first
  std::size_t tested = 0, no_history = 0, not_clean = 0;
  std::vector<NightTrend> trends = {};  // of all series, whatever was judged
};

/// Repeats of a case count as one value, their median. `slower` requires significance (Benjamini
/// and Hochberg over all series of the night) and a loss of the practical threshold.
/// `cpu_quota` requires that half of a host's jobs lost CPU time to a quota that is lower than in
/// most of its earlier runs.
Suspicions find_suspects(const RunSummary& report, const HistoryOf& history,
                         const SuspicionRule& rule, const QuotasOf& quotas = {});

/// Whether a CPU quota withheld the CPU from a series of the job.
bool is_withheld(const RunSummary& report, const std::string& job);

/// Identity of a series across runs.
SeriesIdentity identity_of(const Series& series);
/// At least half of its samples are clean.
bool is_clean(const Series& series);
/// A finding for a series that `run` measured in a job, without expectation and p-value.
NightFinding finding_of(const JobResult& job, const std::string& run, SuspicionKind kind,
                        const Series& series);

// Applies `benchctl report regression` to a night: its newest findings are suspicions too (it
// corrects for fleet-wide changes and pools noise over peers), and findings acknowledged or marked
// as noise are dropped.

/// `night`: the report of the night's runs, whose IDs are `runs`. Adds open findings of single
/// hosts that got worse first in one of these runs, for series not yet suspected. Removes `slower`
/// ones last marked as acked or noise.
void take_flags(const RegressionReport& flags, const RunSummary& night,
                const std::vector<std::string>& runs, Suspicions& suspicions);

}  // namespace bench
