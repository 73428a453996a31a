// A change of one series as a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "results/verdicts/regression/level_history.h"
#include "results/verdicts/regression/regression.h"

namespace bench {

// Groups runs of many hosts into nights. A run of the whole fleet is one night; on a busy cluster
// each idle host has its own run, and many such runs form one night.

/// The part of a point that judgements need.
struct RunValue {
  std::int64_t run = 0;
  std::int64_t time_ns = 0;
  std::int64_t configuration = 0;
  double value = 0.0;
};

struct Nights {
  std::size_t count = 0;
  std::vector<std::vector<std::uint32_t>> of;  // of each series: the night of each of its values
};

/// A night ends at the second value of a series, or twelve hours after it began. Each series is in
/// run order.
Nights nights_of(std::span<const std::vector<RunValue>* const> series);

/// How many series had a value in one of the seven nights before the newest, but none in it. Series
/// silent for longer count as retired.
std::size_t missing_tonight(const Nights& nights);

/// Common movement: for each night the median deviation of the present series from their own
/// medians. A night with fewer than `fewest` series takes the previous night's value. Empty if no
/// night has enough.
std::vector<double> common_movement(const Nights& nights,
                                    std::span<const std::vector<double>> axis_values,
                                    std::size_t fewest);

// Totals over all series, before anything is called a finding: how likely a change is due to chance
// depends on the number of series tested.

struct Candidate {
  ChangeFinding finding;
  double p = 1.0;
  std::size_t test = 0;  // its place among newest_p of its side
  /// Configurations (before, after) around the change; for a fleet those of many members.
  std::vector<std::pair<std::int64_t, std::int64_t>> configurations = {};
  std::size_t members = 1;
};

/// Tests of one scope. Worse and better are separate families, so improvements do not lend
/// significance to regressions.
struct ScopeTally {
  std::size_t series = 0;
  std::vector<double> worse_p = {}, better_p = {};  // of newest values
  std::vector<Candidate> newest = {}, lasting = {};
};

struct Tally {
  ScopeTally fleet, host;
  std::size_t missing = 0, too_short = 0;
  std::int64_t newest_run = 0;

  ScopeTally& of(FindingScope scope) { return scope == FindingScope::fleet ? fleet : host; }
};

/// Candidates that are significant, with their q; their facts remain unresolved in
/// `configurations`.
std::vector<Candidate> accepted(Tally tally, const RegressionOptions& options,
                                RegressionReport& report);

/// Hash of scope, kind (newest value or not) and series, stable as nights pass.
std::string finding_id(const ChangeFinding& finding);

// Axis on which values are judged: the logarithm, so that noise and effects are relative, or the
// value itself in units of the series' level.

class Scale {
 public:
  /// Logarithmic: all values must be positive. Otherwise the unit is the absolute median, or one if
  /// that is zero.
  Scale(bool is_log, std::span<const double> values);

  double of(double value) const;     // value -> axis
  double value(double place) const;  // ... and back
  /// A distance on the axis as a share of the level: -0.032.
  double share(double distance) const;
  /// A practical threshold, a share, as distances up and down (both positive).
  double up(double threshold) const;
  double down(double threshold) const;

 private:
  bool log_;
  double unit_ = 1.0;
};

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
