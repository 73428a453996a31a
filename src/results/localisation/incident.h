// Jobs of several hosts, or of several GPUs of one host, that failed or were slow, and what jobs on
// parts of these hosts say of them: the material of a search.
//
// failed: the job failed, took too long, or its result is wrong. Not where a host fell out of the
//   run: that is named already.
// slow: the job misses a gate of its case (min, max, or a share of a limit), with the whole
//   interval of its median; where other work left no clean sample, by half with its best one. A job
//   on a part is slow when its median misses the same gate; and, of rates, when it is below the
//   best of equally many hosts by the metric's practical threshold and by half, of the logarithm,
//   of what the whole job misses its gate by, because a small job may reach what a large one
//   should. Of times only the gate counts: they differ between good hosts with the way between
//   them. How jobs on some of a host's GPUs are judged: device_trials.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/record.h"
#include "results/localisation/search.h"

namespace bench {

struct RunSummary;

/// A job of the search on some GPUs of its hosts, the same on each.
struct DeviceJob {
  Hosts hosts;
  std::vector<std::string> devices = {};  // "cuda:3"
  Symptom symptom = Symptom::unknown;      // of a job that is slow: whether it misses the gate
  double value = kNoValue;
  std::string job = {};
};

struct Incident {
  bool slow = false;  // else failed
  std::string case_name;
  std::string job;             // that shows it; of several the one with most hosts
  Hosts hosts;                 // of that job; one where it has several ranks with a GPU each
  std::string reason;          // of the job that failed
  std::string device = {};     // what it measures: host, cuda
  Json part = Json::object();  // of its hosts: the rail it was on; empty for whole hosts
  int ranks_per_host = 0;      // 0 where hosts have different numbers of them
  // What is slow; values in the base unit.
  std::string metric = {};
  Json params = Json::object();
  Unit unit = Unit::count;
  Better better = Better::none;
  double value = kNoValue;
  double bound = kNoValue;
  double threshold = 0.0;  // relative: by what a job on a part must be worse than its equals
  /// Every job of the case, with these parameters, on two hosts or more; those of the search too.
  std::vector<Trial> trials = {};
  std::vector<DeviceJob> device_jobs = {};
  /// Of a job of one host: jobs of the case on other hosts that are fine. What they reach.
  std::vector<Trial> fine_hosts = {};
  std::size_t searched = 0;  // of the trials and device jobs, how many the search asked for
  double searched_s = 0.0;   // what these took, counted one after another
  double longest_s = 0.0;    // the longest of the trials
};

/// In the order of the jobs; one for each case and its parameters (for each host where jobs have
/// one), failed before slow.
std::vector<Incident> incidents(const RunSummary& report);

}  // namespace bench
