// What a fleet's history says of each of its hosts and devices: against its peers, against a
// learned profile, over time. Values come metric by metric, so that a thousand hosts with a hundred
// nights each need not be in memory at once. Pure: the same values give the same report.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "results/fleet/fleet_profile.h"
#include "results/gates.h"
#include "results/reports/text_style.h"

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

/// One metric at one set of parameters over all who measured it.
struct FleetSeries {
  std::string metric;
  Json params = Json::object();
  std::string device;  // without an index
  Unit unit = Unit::count;
  Better better = Better::higher;
  std::vector<FleetMember> members = {};
};

/// A job of one host that did not end ok: a fault of that host as far as anybody knows.
struct FleetFault {
  std::int64_t time_ns = 0;
  std::string host, text;
};

struct FleetSettings {
  std::int64_t now_ns = 0;
  double valid_days = 30.0;     // after its last measurement a verdict holds so long
  double incident_days = 90.0;  // lemons are looked for in so much history
  std::size_t last = 5;         // the newest runs of a member speak for it
  std::size_t fewest_runs = 3;  // that it needs to pass
  double level = 0.01;          // chance that a healthy fleet has anybody accused
  std::map<std::string, double> thresholds = {};  // metric -> share; others as `accept` has them
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
  double half = kNoValue;      // half-width of its 95 % interval
  double z = kNoValue;
  double golden_loss = kNoValue;  // against the profile
  std::int64_t last_ns = 0;
  Verdict verdict = Verdict::inconclusive;
  std::string gate = {};  // what decided: golden, peers, repeatability, expired, coverage
  std::string text = {}, next_step = {};  // "" where it passed
};

struct FleetHostReport {
  std::string host;
  Verdict verdict = Verdict::inconclusive;
  std::size_t passed = 0, failed = 0, inconclusive = 0;  // rows
  std::int64_t checked_ns = 0;                           // its newest value
  std::int64_t expires_ns = 0;                           // when the first of its verdicts does
  bool expired = false;                                  // some did
  std::set<std::int64_t> incidents = {};                 // days since 1970 on which it failed
  double repeat_p = 1.0;  // chance of so many days were it as the other hosts
  bool repeat_failures = false;
  std::vector<std::string> reasons = {};  // of what did not pass, worst first
};

/// What is left of a series for the report.
struct FleetSeriesReport {
  FleetKey key;
  Unit unit = Unit::count;
  Better better = Better::higher;
  double threshold = 0.01;
  std::size_t hosts = 0;
  double expected = kNoValue, noise = kNoValue;  // noise: of the peers, robust, relative
  bool judged = false;                           // enough peers, or a criterion
};

struct FleetReport {
  Verdict verdict = Verdict::inconclusive;
  std::int64_t time_ns = 0;
  std::vector<FleetHostReport> hosts;  // worst first, then by name
  std::vector<FleetSeriesReport> series;
  std::vector<FleetRow> rows;
  FleetProfile learned;  // what this fleet teaches
  FleetSettings settings;
  std::vector<std::string> warnings;
  /// 1 where a host failed; 3 where none passed; else 0.
  ExitCode exit_code = ExitCode::not_measured;
};

/// Leaves only these hosts in the report, which were judged among all. Throws Error(input) for one
/// that is none of the fleet, with the nearest name.
void keep_hosts(FleetReport& report, const std::vector<std::string>& hosts);

class FleetJudge {
 public:
  explicit FleetJudge(FleetSettings settings);
  ~FleetJudge();
  /// In any order. Metrics without a direction, and those that `accept` does not judge, are left
  /// out.
  void take(FleetSeries series);
  /// `faults` count as incidents. Once.
  FleetReport finish(const std::vector<FleetFault>& faults = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
