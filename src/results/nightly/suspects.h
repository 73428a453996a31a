// What of a night's run is suspicious: jobs that failed, results that are wrong, and values that
// are worse than the same host's own history. Suspicions, not verdicts: what is suspected is run
// again.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "results/nightly/finding.h"
#include "results/nightly/past.h"
#include "results/run_summary.h"

namespace bench {

/// Run values of a series before the night, oldest first.
using HistoryOf = std::function<std::vector<double>(const SeriesIdentity&)>;

struct SuspicionRule {
  double q = 0.05;              // expected share of false ones among what is `slower`
  std::size_t fewest_runs = 8;  // of history
  std::map<std::string, double> thresholds = {};  // of the user's, by the metric's full name
};

/// The loss of this metric that matters, as a share: the user's, else what the metric declares.
double threshold_of(const std::string& metric, const SuspicionRule& rule);

struct Suspicions {
  std::vector<NightFinding> findings;  // the surest first
  std::size_t tested = 0, no_history = 0, not_clean = 0;
};

/// Values of several jobs of a case (repeats) count as one: their median. `slower` takes a chance
/// that survives Benjamini and Hochberg over all series of the night, and a loss of the metric's
/// practical threshold.
Suspicions find_suspects(const RunSummary& report, const HistoryOf& history,
                         const SuspicionRule& rule);

/// A series' identity over runs.
SeriesIdentity identity_of(const Series& series);
/// At least half of its samples are.
bool is_clean(const Series& series);
/// Of a series that `run` measured in a job; what was expected and how sure it is are left open.
NightFinding finding_of(const JobResult& job, const std::string& run, SuspicionKind kind,
                        const Series& series);

}  // namespace bench
