// Judges each host and device of a fleet from its history: against peers, against a learned
// profile, and over time. Values arrive metric by metric, so that a thousand hosts with a hundred
// nights each need not fit in memory. Pure: the same values give the same report.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "results/run/gates.h"
#include "results/store/history.h"
#include "results/verdicts/peers/fleet_profile.h"

namespace bench {

struct FleetValue {
  std::int64_t time_ns = 0;
  double value = kNoValue;  // of one run, in the base unit
};

/// One device of one host, or the host as a whole.
struct FleetMember {
  std::string host;
  std::string device;                   // "host", "cuda:3"
  std::string kind;                     // of host: FleetKey::kind
  std::vector<FleetValue> values = {};  // oldest first
};

/// One metric at one set of parameters over all hosts that measured it.
struct FleetSeries {
  std::string metric;
  Json params = Json::object();
  std::string device;  // without an index
  Unit unit = Unit::count;
  Better better = Better::higher;
  std::vector<FleetMember> members = {};
};

/// A failed single-host job, counted as a fault of the host.
struct FleetFault {
  std::int64_t time_ns = 0;
  std::string host, text;
};

struct FleetSettings {
  std::int64_t now_ns = 0;
  double valid_days = 30.0;     // validity of a verdict after the last measurement
  double incident_days = 90.0;  // history searched for repeat failures
  std::size_t last = 5;         // newest runs used per member
  std::size_t fewest_runs = 3;  // required to pass
  double level = 0.01;          // false-alarm probability for a healthy fleet
  std::map<std::string, double> thresholds = {};  // metric -> share; defaults as in `accept`
  std::optional<FleetProfile> profile = {};
};

/// One metric of one member.
struct FleetRow {
  std::size_t series = 0;  // index in FleetReport::series
  std::string host, device;
  std::size_t runs = 0;
  double value = kNoValue;     // median of the runs
  double expected = kNoValue;  // median of the peers
  double loss = kNoValue;      // relative, against the peers; negative is better
  double half = kNoValue;      // half-width of the 95 % interval
  double z = kNoValue;
  double golden_loss = kNoValue;  // against the profile
  std::int64_t last_ns = 0;
  Verdict verdict = Verdict::inconclusive;
  std::string gate = {};  // the deciding gate: golden, peers, repeatability, expired, coverage
  std::string text = {}, next_step = {};  // "" if passed
  bool alone = false;                     // too few hosts of its kind to be compared
  bool unresolved = false;  // open because of noise alone: says nothing about the host
  bool rare = false;        // open as few hosts of its kind were measured often enough: likewise
};

struct FleetHostReport {
  std::string host;
  Verdict verdict = Verdict::inconclusive;
  std::size_t passed = 0, failed = 0, inconclusive = 0;  // rows
  std::size_t unresolved = 0;   // further rows, open because of noise alone
  std::size_t rare = 0;         // further ones, of metrics that few hosts have enough runs of
  std::int64_t checked_ns = 0;  // its newest value
  std::int64_t expires_ns = 0;  // when its first verdict expires
  bool expired = false;         // some verdict expired
  std::set<std::int64_t> incidents = {};  // days since 1970 on which it failed
  double repeat_p = 1.0;                  // chance of so many days at the rate of the other hosts
  bool repeat_failures = false;
  std::vector<std::string> reasons = {};  // for failed and inconclusive rows, worst first
};

/// Summary of a series.
struct FleetSeriesReport {
  FleetKey key;
  Unit unit = Unit::count;
  Better better = Better::higher;
  double threshold = 0.01;
  std::size_t hosts = 0;
  double expected = kNoValue, noise = kNoValue;  // noise: of the peers, robust, relative
  bool judged = false;                           // enough peers, or a criterion
  double visible = kNoValue;                     // visible_loss()
  std::size_t unresolved = 0;                    // rows left open by noise
  bool rare = false;                             // fewer than half of the hosts have enough runs
};

struct FleetReport {
  Verdict verdict = Verdict::inconclusive;
  std::int64_t time_ns = 0;
  std::vector<FleetHostReport> hosts;  // worst first, then by name
  std::vector<FleetSeriesReport> series;
  std::vector<FleetRow> rows;
  FleetProfile learned;  // criteria learned from this fleet
  FleetSettings settings;
  std::vector<std::string> warnings;
  /// Of the hosts' verdicts (results/run/conclusion.h).
  ExitCode exit_code = ExitCode::not_measured;
};

/// Restricts the report to these hosts, still judged among all. Throws Error(input) for an unknown
/// host, with the nearest name.
void keep_hosts(FleetReport& report, const std::vector<std::string>& hosts);

class FleetJudge {
 public:
  explicit FleetJudge(FleetSettings settings);
  ~FleetJudge();
  /// In any order. Skips metrics without a direction and those that `accept` does not judge.
  void take(FleetSeries series);
  /// `faults` count as incidents. Once.
  FleetReport finish(const std::vector<FleetFault>& faults = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Values and faults of a fleet from the database.

/// Visits single-host series, metric by metric; devices of one type together.
void for_each_fleet_series(const Histories& histories, const Selection& selection,
                           const std::function<void(FleetSeries)>& take);

/// Single-host jobs that failed, timed out or were invalid since then, in runs that count; not
/// interrupted or unstarted ones.
std::vector<FleetFault> fleet_faults(const Store& store, std::int64_t since_ns);

/// The fleet as `histories` of the store know it; `selection` may narrow the metrics. A host not
/// measured for the longer of the searched history and twice the validity has left the fleet.
FleetReport stored_fleet(const Store& store, const Histories& histories,
                         const FleetSettings& settings, Selection selection = {});

}  // namespace bench
