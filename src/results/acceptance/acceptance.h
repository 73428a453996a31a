// May these hosts be taken over? Three gates look at each host (research: hard bounds, peers,
// repeatability), the worst wins, and what was not measured does not pass. Pure: the same records
// give the same answer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/acceptance/counters.h"
#include "results/acceptance/observations.h"
#include "results/fleet/fleet_profile.h"
#include "results/gates.h"
#include "results/localisation/localisation.h"
#include "results/run_records.h"
#include "results/topology/profile.h"

namespace bench {

/// Why a host, or a link, did not pass. `gate`: launch (it fell out of the run), preflight,
/// topology (it is not what its profile says), hard (bounds of the suite, wrong results, CPU time),
/// counters (errors that hardware counted), peers, repeatability, pairs (its links), coverage (not
/// measured, or not cleanly), localised (named by a search for who makes a job of several hosts
/// fail or slow).
struct Reason {
  Verdict verdict = Verdict::inconclusive;
  std::string gate;
  std::string case_name = {}, metric = {};  // empty where it is about the host as a whole
  Json params = Json::object();
  Unit unit = Unit::count;
  double value = kNoValue;
  double expected = kNoValue;
  std::string text = {};
  std::string next_step = {};  // what would settle it, or what to do
  std::string job = {};     // one that shows it
  bool more_runs = false;   // runs of the same kind could settle it
};

/// One metric of one host, as its certificate shows it.
struct HostMetric {
  std::string case_name, metric;
  Json params = Json::object();
  Unit unit = Unit::count;
  std::size_t runs = 0;         // usable ones
  double value = kNoValue;      // median of the runs
  double expected = kNoValue;   // median of the peers
  double loss = kNoValue;       // relative; negative is better
  double half = kNoValue;       // half-width of the 95 % interval of the loss
  double threshold = kNoValue;  // the loss that matters
  double z = kNoValue;
  double limit = kNoValue, of_limit = kNoValue;
  Verdict verdict = Verdict::inconclusive;
};

struct HostAcceptance {
  std::string host;
  Verdict verdict = Verdict::inconclusive;
  std::vector<Reason> reasons;  // worst first
  std::vector<HostMetric> metrics;
  std::vector<HostCounter> counters;  // of errors, by device
  std::vector<std::string> notes;     // what was seen and judges nothing
  Json facts = Json::object();        // as Machine has them
};

/// A link that is slow between two hosts that are not.
struct LinkAcceptance {
  std::string a, b;
  Reason reason;
};

struct Acceptance {
  Verdict verdict = Verdict::inconclusive;  // the worst of hosts and links
  std::vector<HostAcceptance> hosts;        // in the order of the hosts file
  std::vector<LinkAcceptance> links;
  std::vector<Localisation> localisations;  // searches for who made jobs of several hosts fail
  std::vector<std::string> not_covered;     // cases that no host could run, with the reason
  std::vector<std::string> runs;            // ids, the first one first
  std::string suite;
  std::int64_t time_ns = 0;
  bool interrupted = false;
};

struct AcceptanceSettings {
  Hosts hosts;                                   // all that were asked for
  std::map<std::string, double> thresholds;      // metric -> share
  std::size_t fewest_runs = 3;                   // usable ones that a host needs
  std::map<std::string, Profile> profiles = {};  // host -> what it should be; those that have one
  double level = 0.01;                           // chance that a healthy fleet has anybody accused
  std::optional<FleetProfile> golden = {};       // what healthy hosts measured
};

/// `runs`: of one suite over these hosts; the first is the whole, later ones repeat parts of it.
Acceptance judge_acceptance(std::vector<RunRecords> runs, const AcceptanceSettings& settings);

/// The counters that say something: errors came, or none on bytes that are known.
std::vector<const HostCounter*> relevant_counters(const HostAcceptance& host);

/// The cases that further runs of this host could settle; none for a host that is settled.
std::vector<std::string> unsettled_cases(const HostAcceptance& host);

}  // namespace bench
