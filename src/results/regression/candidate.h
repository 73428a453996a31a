// A change of one series, put into the words of a finding.
#pragma once

#include <utility>
#include <vector>

#include "results/regression/nights.h"
#include "results/regression/scale.h"
#include "results/regression/tally.h"

namespace bench {

struct Member {
  SeriesKey key;
  std::vector<RunValue> values;  // oldest first
};

/// One series on its way through judgement.
struct Judged {
  const Member* member = nullptr;
  Scale scale;
  std::vector<double> movement = {};  // of the fleet, at each value; empty: not taken out
  LevelHistory history = {};
};

Scale scale_of(const Member& member, bool is_log);
Thresholds thresholds_on(const Scale& scale, double threshold);

/// Everything except the configurations; `threshold` is a share. Keeps the judged series for plots.
Candidate candidate_of(const Judged& one, FindingScope scope, ChangeKind kind, const Change& change,
                       double threshold, bool ask_otava);

/// Appends the configurations before and after each value whose run is in [from, to], where they
/// differ.
void collect_configurations(const std::vector<RunValue>& values, std::int64_t from, std::int64_t to,
                            std::vector<std::pair<std::int64_t, std::int64_t>>& pairs);

}  // namespace bench
