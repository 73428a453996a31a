// What got worse, since which run, on which host, and how sure: each series' newest value against
// its history, and its history cut into segments; the fleet first, then the hosts after the fleet's
// own movement is taken out. docs/statistics.md has the rules and how often they are wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/units.h"
#include "results/store/history.h"

namespace bench {

enum class FindingScope {
  fleet,  // the median of eight series or more moved: software, drivers, the room
  host    // one series moved, against its peers where there are eight of them
};
enum class ChangeKind {
  newest,  // newest value only: measure again before acting
  step,    // the level changed and has stayed there for three values or more
  drift,   // the last segment sinks or rises slowly
  exact    // a value that must be equal differs
};
enum class HistoryVerdict {
  regressed,  // the whole interval is worse than the practical threshold
  improved,   // ... better
  changed     // something changed; how much is unclear, or the metric has no better side
};
enum class FindingState {
  open,   // no decision, or it came back after being fixed
  acked,  // known and accepted
  fixed,  // reported as repaired; no value measured since
  noise   // declared to be noise
};

std::string_view to_string(FindingScope scope);
std::string_view to_string(ChangeKind kind);
std::string_view to_string(HistoryVerdict verdict);
std::string_view to_string(FindingState state);

/// A person's decision on a finding, from the journal (decisions.h). The last one counts.
struct Decision {
  std::string finding;        // ChangeFinding::id
  std::string run;            // id of the run since which that finding was, when it was decided
  std::int64_t since_ns = 0;  // start of that run; 0 if unknown
  FindingState state = FindingState::open;
  std::int64_t time_ns = 0;
  std::string user = {}, text = {};
};

struct RegressionOptions {
  Selection selection = {};       // hosts: which findings are reported; all are judged
  std::size_t most_points = 200;  // of each series
  double q = 0.03;                // share of false ones among what a family finds
  double most_p = 0.0005;         // ... and of a single newest value, however small its family is
  double threshold = 0.0;         // share; 0: the metric's own
  bool otava = false;             // also run otava
  std::vector<Decision> decisions = {};
};

/// A run, as findings name it.
struct RunPlace {
  std::int64_t number = 0;  // Point::run
  std::string id = {};
  std::int64_t time_ns = 0;
};

struct ChangeFinding {
  std::string id = {};  // eight hex digits of scope, kind of thing and series: the same tomorrow
  FindingScope scope = FindingScope::host;
  ChangeKind kind = ChangeKind::step;
  HistoryVerdict verdict = HistoryVerdict::changed;
  FindingState state = FindingState::open;
  SeriesKey key = {};        // of a fleet without host; its device without a number
  double effect = kNoValue;  // -0.032: 3.2 % less, whichever way is better
  double low = kNoValue;     // its 95 % interval
  double high = kNoValue;
  double q = kNoValue;                    // Benjamini and Hochberg's adjusted p in its family
  double threshold = 0.01;                // practical, as a share
  double value = kNoValue;                // newest value, in the unit; of a fleet the median
  double expected = kNoValue;             // level before the change
  RunPlace since, since_low, since_high;  // first run of the change, and its range of runs
  RunPlace until = {};                    // first run back at the old level; number 0: persists
  std::size_t before = 0, after = 0;      // values on both sides
  int votes = 1, voters = 1;              // methods that detect it, of those run
  std::vector<FactChange> facts = {};     // configuration changes in that range
  std::vector<Point> points = {};         // the judged series, for plots; of a fleet its median
  std::vector<double> levels = {};        // segment level at each of these points
  Decision decision = {};                 // finding "" where there is none
  /// Whether it fails a report: open, worse and persisting.
  bool fails() const {
    const bool counts = verdict == HistoryVerdict::regressed ||
                        (verdict == HistoryVerdict::changed && key.better == Better::none);
    return state == FindingState::open && counts && until.number == 0;
  }
};

struct FindingFamily {
  FindingScope scope = FindingScope::host;
  std::size_t tested = 0;  // newest values judged together
  std::size_t found = 0;
};

struct RegressionReport {
  std::vector<ChangeFinding> findings = {};  // failing ones first, then by |effect| / threshold
  std::size_t tested = 0;                    // series judged
  std::size_t missing = 0;    // series of recent nights without a value in the newest
  std::size_t too_short = 0;  // fewer than nine values since the last change: not judged
  std::vector<FindingFamily> families = {};
  double q = 0.03;
  RunPlace newest = {};
  ExitCode exit_code = ExitCode::ok;  // failed: something fails(); not_measured: nothing was tested
};

/// Streams series by series; keeps one metric's at a time. Throws Error as Histories does.
RegressionReport regression_report(const Histories& histories, const RegressionOptions& options);

}  // namespace bench
