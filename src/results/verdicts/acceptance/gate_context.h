// The gates and the context they share. Each adds its reasons; acceptance.cpp combines them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results/verdicts/acceptance/acceptance.h"
#include "results/verdicts/peers/compared.h"

namespace bench {

/// job -> "gpu3", for jobs that drove one GPU, from the device facts of their process.
using GpusOfJobs = std::map<std::string, std::string>;
GpusOfJobs gpus_of_jobs(const RunRecords& run);

struct GateContext {
  const std::vector<RunRecords>& records;  // reduced by keep_for_gates()
  const std::vector<RunSummary>& reports;
  const std::vector<MetricRuns>& metrics;
  const AcceptanceSettings& settings;  // level: of the gates that compare hosts
  Acceptance& acceptance;
  std::map<std::string, HostAcceptance*> hosts;
  std::set<std::string>
      bounded;  // bound_key() of metrics passed by a suite bound or judged by a golden one
  std::map<std::string, std::string> aliases;  // own host name -> name in the plan
  std::vector<GpusOfJobs> gpus;                // per run
  double golden_level = 0.0;                   // of the golden gate

  /// By either name. Null for a host that was not requested.
  HostAcceptance* host(const std::string& name) const;
  void add_reason(const std::string& name, Reason reason) const;
  /// For a fact (`what`) rather than a metric of a case.
  void add_reason(const std::string& name, Verdict verdict, const std::string& gate,
                  const std::string& what, const std::string& text,
                  const std::string& next_step) const;
};

/// The first facts of each topic and host, pointing into the records.
using FactsByTopic = std::map<std::string, const Json*>;
using FactsOfHosts = std::map<std::string, FactsByTopic>;
FactsOfHosts facts_of(const std::vector<RunRecords>& runs);

std::string bound_key(const std::string& host, const std::string& case_name,
                      const std::string& metric);

// Runs of a host that vary as those of its peers do, and of which the best are as good, leave a
// greater loss open to noise: what is broken all the time slows the best runs too.
inline constexpr double kAsGood = 0.5;   // loss of the best runs, by the one that must be excluded
inline constexpr double kAsNoisy = 2.0;  // times the noise of a typical host

/// A reason about one metric, without value and text.
Reason reason_of(const MetricRuns& metric, Verdict verdict, const std::string& gate);

bool contains(const Hosts& hosts, const std::string& host);

/// A metric that stays unresolved on these hosts, without text.
Unresolved unresolved_of(const MetricRuns& metric, Hosts hosts);

/// Why these hosts lack usable runs of the metric; nothing if they have enough.
std::optional<Reason> too_few_runs(const MetricRuns& metric, const Hosts& hosts,
                                   std::size_t fewest);

/// Hosts that dropped out, failed jobs, cases no host could run.
void judge_jobs(GateContext& context);
/// Facts that invalidate measurements: ECC, foreign processes, hosts unlike their peers, unreadable
/// facts.
void judge_preflight(GateContext& context);
/// Compares hosts with their profiles, from the topology probe of the suite.
void judge_topology(GateContext& context);
/// Facts that the suite requires (`requires`) and that lacked permissions.
void judge_permissions(const GateContext& context, const FactsOfHosts& facts);
/// GPUs that were not measured individually.
void judge_gpu_coverage(const GateContext& context, const FactsOfHosts& facts);
/// Bounds of the suite, wrong results, results that differ between identical devices, driver
/// faults.
void judge_hard(GateContext& context);
/// Compares with settings.golden where it covers the kind of host. After judge_hard.
void judge_golden(GateContext& context);
/// CPU time withheld from ranks.
void judge_cpu_time(GateContext& context);
/// PCIe traffic of jobs by host.
std::map<HostAcceptance*, Volumes> volumes_of(const GateContext& context);
/// Hardware error counters, relative to traffic.
void judge_counters(GateContext& context);
/// Peers and repeatability of single-host metrics. After judge_hard.
void judge_peers(GateContext& context);
/// Rates between two hosts: fails a host if all its pairs are slow, else the link.
void judge_pairs(GateContext& context);
/// Results of searches: fails isolated hosts and links, clears the others of the same job. Last.
void judge_localised(GateContext& context);
}  // namespace bench
