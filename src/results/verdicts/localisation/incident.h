// Failed or slow jobs of several hosts, or of several GPUs of one host, with the jobs on parts of
// these hosts: the input of a search.
//
// failed: the job failed, timed out, or its result is wrong; not if a host dropped out of the run,
//   as that host is known.
// slow: the job misses a gate of its case (min, max, or a share of a limit), with the whole
//   interval of its median; without clean samples, by half with the best one. The gate of many
//   hosts says little of few, and other work slows some jobs. So a job on a part is slow if its
//   rate is below the best of as many hosts, by the practical threshold, by half the log distance
//   of the whole job to its gate, and by twice the difference of repeats. Pairs, which accuse, need
//   three measurements, and the best pair too, unless they reach less than a tenth of it and even
//   their best sample misses the gate by half that distance. If all parts of a size miss it so, all
//   are slow. Times must also miss the gate, as they vary with the path between good hosts. Jobs on
//   some GPUs of a host: device_search.h.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/record.h"
#include "results/verdicts/localisation/search.h"

namespace bench {

struct RunSummary;

/// A job of the search on some GPUs of its hosts, the same on each.
struct DeviceJob {
  Hosts hosts;
  std::vector<std::string> devices = {};  // "cuda:3"
  Symptom symptom = Symptom::unknown;     // in slow jobs: whether it misses the gate
  double value = kNoValue;
  std::string job = {};
};

struct Incident {
  bool slow = false;  // else failed
  std::string case_name;
  std::string job;             // that shows it; if several, the one with most hosts
  Hosts hosts;                 // of that job; one for a single-host job with several GPU ranks
  std::string reason;          // of the failed job
  std::string device = {};     // what it measures: host, cuda
  Json part = Json::object();  // the rail; empty for whole hosts
  int ranks_per_host = 0;      // 0 if the hosts differ
  // The slow metric; values in the base unit.
  std::string metric = {};
  Json params = Json::object();
  Unit unit = Unit::count;
  Better better = Better::none;
  double value = kNoValue;
  double bound = kNoValue;
  double threshold = 0.0;  // relative loss against jobs of equal size
  /// Every job of the case with these parameters on two or more hosts, including search jobs.
  std::vector<Trial> trials = {};
  std::vector<DeviceJob> device_jobs = {};
  /// For a single-host job: passing jobs of the case on other hosts, with their values.
  std::vector<Trial> fine_hosts = {};
  std::size_t searched = 0;  // trials and device jobs requested by the search
  double searched_s = 0.0;   // their total run time
  double longest_s = 0.0;    // the longest of the trials
};

/// Larger is better: the value or its inverse; kNoValue if neither.
double rate_of(double value, Better better);

/// In job order, one per case and parameters (and per host for single-host jobs), failed before
/// slow.
std::vector<Incident> incidents(const RunSummary& report);

// The evidence of a finding, as text and JSON.

/// "11.8 MB/s on node[01,03], 12 MB/s on node[03-04]"; for jobs without a value "jobs fail on
/// node[01,03], node[03-04]"; "no job".
std::string evidence_text(const SearchFinding& finding, const std::vector<Trial>& trials,
                          const Incident& incident, Symptom symptom);

/// [{"job", `what`: [NAME, ...], "shows", "value"}]
Json evidence_json(const SearchFinding& finding, const std::vector<Trial>& trials,
                   const char* what);

}  // namespace bench
