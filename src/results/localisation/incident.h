// Jobs of several hosts that failed or were slow, and what jobs on parts of these hosts say of
// them: the material of a search.
//
// failed: the job failed, took too long, or its result is wrong. Not where a host fell out of the
//   run: that is named already.
// slow: the job misses a gate of its case (min, max, or a share of a limit), with the whole
//   interval of its median; where other work left no clean sample, by half with its best one. A job
//   on a part is slow when its median misses the same gate; and, of rates, when it is below the
//   best of equally many hosts by the metric's practical threshold and by half, of the logarithm,
//   of what the whole job misses its gate by, because a small job may reach what a large one
//   should. Of times only the gate counts: they differ between good hosts with the way between
//   them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/record.h"
#include "results/localisation/search.h"

namespace bench {

struct RunReport;

struct Incident {
  bool slow = false;  // else failed
  std::string case_name;
  std::string job;     // that shows it; of several the one with most hosts
  Hosts hosts;         // of that job
  std::string reason;  // of the job that failed
  // What is slow; values in the base unit.
  std::string metric = {};
  Json params = Json::object();
  Unit unit = Unit::count;
  Better better = Better::none;
  double value = kNoValue;
  double bound = kNoValue;
  /// Every job of the case, with these parameters, on two hosts or more; those of the search too.
  std::vector<Trial> trials = {};
  std::size_t searched = 0;  // of the trials, how many jobs the search asked for
  double searched_s = 0.0;   // what these took, counted one after another
  double longest_s = 0.0;    // the longest of the trials
};

/// In the order of the jobs; one for each case and its parameters, failed before slow.
std::vector<Incident> incidents(const RunReport& report);

}  // namespace bench
