// Earlier checks and findings from the database, for choosing checks and judging findings.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "results/store/store_past.h"
#include "results/verdicts/nightly/check_choice.h"
#include "results/verdicts/nightly/fault_catalogue.h"
#include "results/verdicts/nightly/finding.h"

namespace bench {

/// A stored finding of a night.
struct PastFinding {
  std::int64_t time_ns = 0;
  NightFinding finding;
};

struct NightPast {
  std::vector<CheckPast> checks;
  std::vector<PastFinding> findings;  // oldest first
  std::vector<SkipPast> skips = {};
};

/// How long a confirmed finding keeps its host under suspicion.
inline constexpr double kIncidentDays = 30.0;
inline constexpr double kDay_s = 86400.0;

/// Indexed history of a fleet.
class PastIndex {
 public:
  PastIndex(const NightPast& past, const FaultCatalogue& catalogue, std::int64_t now_ns);

  /// For every fault of the catalogue.
  FaultChances chances(const std::string& host) const;
  /// Detection probabilities of the case, as declared and as learned from confirmed findings.
  std::map<std::string, double> finds(const std::string& probe, const std::string& device) const;
  /// Seconds since that case last ran on that host; infinite if never.
  double age_s(const std::string& host, const std::string& case_name) const;
  /// The same for any case.
  double age_s(const std::string& host) const;
  /// Why that case was skipped when it last ran there; "" if it was not.
  std::string skip_reason(const std::string& host, const std::string& case_name) const;
  /// Duration of one of its jobs; 0 if unknown.
  double seconds(const std::string& host, const std::string& case_name) const;
  /// Whether the value of that run was confirmed bad and so is excluded from history.
  bool is_known_bad(const std::string& run, const SeriesIdentity& series) const;
  /// Confirmed findings of the host in the last kIncidentDays.
  std::size_t incidents(const std::string& host) const;

 private:
  struct OfHost {
    std::map<std::string, const CheckPast*> cases;
    std::map<std::string, double> fault_age_s;  // since a check that could find it
    std::map<std::string, std::size_t> incidents;
    double age_s = 0.0;
  };
  /// Observations of one check and one fault.
  struct Seen {
    std::size_t shown = 0, confirmed = 0;
  };
  using Incident = std::tuple<std::string, std::string, std::string>;  // run, host, fault

  void add(const CheckPast& check);
  const CheckPast* check(const std::string& host, const std::string& case_name) const;
  void add(const PastFinding& past);
  using BadValue = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  static BadValue bad_value(const std::string& run, const std::string& host,
                            const std::string& case_name, const std::string& metric,
                            const Json& params);
  void learn(const NightFinding& finding, const std::string& fault, bool is_new);

  const FaultCatalogue& catalogue_;
  std::int64_t now_ns_;
  std::map<std::string, OfHost> hosts_;
  std::map<std::pair<std::string, std::string>, std::string> skips_;  // by host and case
  std::set<BadValue> bad_;
  std::set<Incident> known_;                                  // several checks may find one fault
  std::map<std::pair<std::string, std::string>, Seen> seen_;  // by check and fault
  std::map<std::string, FaultPast> fleet_;  // by fault; its age and incidents are unused
};

// Ranks hosts by health, from the findings of nights.

struct HostHealth {
  std::string host;
  std::size_t incidents = 0;  // confirmed in the last kIncidentDays
  double age_s = kNoValue;    // since its last check; infinite if never
  std::string unfit = {};     // why it is unfit; "" if fit
};

/// All hosts, healthiest first: fewer incidents, then the more recent check, then list order. Unfit
/// hosts come last: an open confirmed finding, or no check within `days`.
std::vector<HostHealth> by_health(const std::vector<std::string>& hosts, const NightPast& past,
                                  const PastIndex& index, double days);

}  // namespace bench
