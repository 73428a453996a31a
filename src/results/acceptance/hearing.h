// What the gates share while they judge, and the gates. Each adds its reasons; acceptance.cpp
// combines them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/acceptance/acceptance.h"

namespace bench {

/// job -> "gpu3", of jobs that drove one GPU: the process said its device before, and the driver
/// which GPU has that name.
using GpusOfJobs = std::map<std::string, std::string>;
GpusOfJobs gpus_of_jobs(const RunRecords& run);

struct GateContext {
  const std::vector<RunRecords>& records;  // what keep_for_gates() kept
  const std::vector<RunSummary>& reports;
  const std::vector<MetricRuns>& metrics;
  const AcceptanceSettings& settings;  // level: of the gates that compare hosts with each other
  Acceptance& acceptance;
  std::map<std::string, HostAcceptance*> hosts;
  std::set<std::string>
      bounded;  // bound_key() of what a bound of the suite passed, or a golden one judged
  std::map<std::string, std::string> aliases;  // what a host calls itself -> its name in the plan
  std::vector<GpusOfJobs> gpus;              // of each run
  double golden_level = 0.0;                 // of the golden gate

  /// By either name. Null for a host that was not asked for.
  HostAcceptance* host(const std::string& name) const;
  void add_reason(const std::string& name, Reason reason) const;
  /// For a fact (`what`) that is no metric of a case.
  void add_reason(const std::string& name, Verdict verdict, const std::string& gate,
             const std::string& what, const std::string& text, const std::string& next_step) const;
};

/// topic -> facts, and those of each host: the first that it said of a topic, before numbers.
/// Points into the records.
using FactsByTopic = std::map<std::string, const Json*>;
using FactsOfHosts = std::map<std::string, FactsByTopic>;
FactsOfHosts facts_of(const std::vector<RunRecords>& runs);

std::string bound_key(const std::string& host, const std::string& case_name,
                      const std::string& metric);

/// What the level is spent on: gates that compare hosts share the chance of a false accusation.
inline constexpr double kPeersShare = 0.4;
inline constexpr double kRepeatabilityShare = 0.2;
inline constexpr double kPairsShare = 0.4;

/// Hosts that fell out, jobs that failed, cases nobody could run.
void judge_jobs(GateContext& context);
/// Facts that forbid believing numbers: ECC, foreign processes, hosts unlike their peers, facts
/// that needed rights.
void judge_preflight(GateContext& context);
/// Hosts that have a profile against it: of the suite's topology probe.
void judge_topology(GateContext& context);
/// Facts that the suite requires (`requires`) and that needed rights we lack.
void judge_permissions(const GateContext& context, const FactsOfHosts& facts);
/// GPUs that no job drove alone.
void judge_gpu_coverage(const GateContext& context, const FactsOfHosts& facts);
/// The suite's bounds, wrong results, bits unlike those of equal devices, and faults that drivers
/// reported.
void judge_hard(GateContext& context);
/// Against what healthy hosts taught, where settings.golden knows hosts of their kind. After
/// judge_hard.
void judge_golden(GateContext& context);
/// CPU time withheld.
void judge_cpu_time(GateContext& context);
/// What jobs are known to have copied over PCIe, by host.
std::map<HostAcceptance*, Volumes> volumes_of(const GateContext& context);
/// Errors that hardware counted, by the bytes that moved.
void judge_counters(GateContext& context);
/// Peers and repeatability, of every metric that hosts measured one by one. After judge_hard.
void judge_peers(GateContext& context);
/// Rates between two hosts: a host all of whose pairs are slow, else the link between two.
void judge_pairs(GateContext& context);
/// What searches concluded: names hosts and links, and clears the others of the same job. Last.
void judge_localised(GateContext& context);
/// Sets of hosts with too few usable runs; those with an accused one in them say nothing more of
/// the others.
void judge_pair_coverage(const GateContext& context, const MetricRuns& metric, const Hosts& accused);

}  // namespace bench
