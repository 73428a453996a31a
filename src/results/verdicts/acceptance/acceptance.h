// Acceptance of hosts: each gate (hard bounds, peers, repeatability, ...) judges each host, the
// worst verdict wins, and what was not measured does not pass. Pure: the same records give the same
// result.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/run/counters.h"
#include "results/run/gates.h"
#include "results/run/run_records.h"
#include "results/verdicts/localisation/localisation.h"
#include "results/verdicts/peers/fleet_profile.h"
#include "results/verdicts/peers/observations.h"
#include "results/verdicts/topology/profile.h"

namespace bench {

/// Why a host or link did not pass. `gate`: launch (dropped out of the run), preflight, topology
/// (deviates from its profile), hard (bounds of the suite, wrong results, CPU time), counters
/// (hardware errors), golden, peers, repeatability, pairs (links), coverage (not measured, or not
/// cleanly), localised (isolated by a search).
struct Reason {
  Verdict verdict = Verdict::inconclusive;
  std::string gate;
  std::string case_name = {}, metric = {};  // empty for the host as a whole
  Json params = Json::object();
  Unit unit = Unit::count;
  double value = kNoValue;
  double expected = kNoValue;
  std::string text = {};
  std::string next_step = {};  // what to do
  std::string job = {};        // a job that shows it
  bool more_runs = false;      // more runs could decide it
};

/// One metric of one host, as shown on its certificate.
struct HostMetric {
  std::string case_name, metric;
  Json params = Json::object();
  Unit unit = Unit::count;
  std::size_t runs = 0;          // usable runs
  double value = kNoValue;       // median of the runs
  double expected = kNoValue;    // median of the peers
  double loss = kNoValue;        // relative; negative is better
  double half = kNoValue;        // half-width of the 95 % interval of the loss
  double threshold = kNoValue;   // tolerance: a greater loss fails if it is beyond chance
  double resolution = kNoValue;  // loss that must be excluded to pass
  double z = kNoValue;
  double limit = kNoValue, of_limit = kNoValue;
  Verdict verdict = Verdict::inconclusive;
  bool unresolved = false;  // part of an Unresolved: says nothing about the host

  /// The loss is below this with a probability of 95 %; at least 0.
  double loss_at_most() const;
};

/// A metric whose losses cannot be seen as finely as the suite promises, as repeats scatter on all
/// hosts alike, or on some, or other work disturbs most of them. It is said once, and keeps no host
/// from passing by its other metrics.
struct Unresolved {
  std::string case_name, metric;
  Json params = Json::object();
  double reached = kNoValue;   // loss that could be seen, or is excluded; none if not measured
  double promised = kNoValue;  // by the suite
  double runs = kNoValue;      // clean runs a host that would do; none if more do not help
  Hosts hosts = {};            // that it leaves open
  std::string text = {}, next_step = {};
};

struct HostAcceptance {
  std::string host;
  Verdict verdict = Verdict::inconclusive;
  std::vector<Reason> reasons;  // worst first
  std::vector<HostMetric> metrics;
  std::vector<HostCounter> counters;  // of errors, by device
  std::vector<std::string> notes;     // observations without a verdict
  Json facts = Json::object();        // as in Machine
};

/// A slow link between two good hosts.
struct LinkAcceptance {
  std::string a, b;
  Reason reason;
};

/// What pairs of hosts reached in one metric.
struct PairMatrix {
  std::string metric;  // with its parameters
  struct Pair {
    std::string a, b;
    double loss = kNoValue;  // against the median of all pairs; negative is better
  };
  std::vector<Pair> pairs = {};
  double threshold = kNoValue;
};

struct Acceptance {
  Verdict verdict = Verdict::inconclusive;  // the worst of hosts and links
  std::vector<HostAcceptance> hosts;        // in the order of the hosts file
  std::vector<LinkAcceptance> links;
  std::vector<PairMatrix> pairs;            // for each metric between two hosts
  std::vector<Localisation> localisations;  // searches for the cause of failed or slow jobs
  std::vector<Unresolved> unresolved;
  std::vector<std::string> not_covered;  // cases no host could run, with the reason
  std::vector<std::string> runs;         // IDs, oldest first
  std::string suite;
  std::int64_t time_ns = 0;
  bool interrupted = false;
};

struct AcceptanceSettings {
  Hosts hosts;                                   // all requested hosts
  std::map<std::string, double> thresholds;      // metric -> share
  std::size_t fewest_runs = 3;                   // usable runs required per host
  std::map<std::string, Profile> profiles = {};  // by host; only hosts with a profile
  double level = 0.01;                           // false-alarm probability for a healthy fleet
  std::optional<FleetProfile> golden = {};       // criteria learned from healthy hosts
};

/// `runs`: of one suite on these hosts; the first is complete, later ones repeat parts of it. A
/// host passes a metric once its loss is at most the suite's resolution with a probability of 95 %;
/// of a metric whose threshold is set by hand, at most that.
Acceptance judge_acceptance(std::vector<RunRecords> runs, const AcceptanceSettings& settings);

/// Counters with errors, or without errors on known traffic.
std::vector<const HostCounter*> relevant_counters(const HostAcceptance& host);

/// Cases that further runs of this host could decide; none for a decided host.
std::vector<std::string> open_cases(const HostAcceptance& host);

/// The loss that the suite of the plan promises to find in a metric; nothing if it promises none.
std::optional<double> promised_resolution(const Json& plan, const std::string& metric);

}  // namespace bench
