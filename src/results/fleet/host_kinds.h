// Kinds of hosts (FleetKey::kind) from the facts of runs.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "results/run_summary.h"

namespace bench {

/// Per device, as only jobs on a GPU report GPUs.
class HostKinds {
 public:
  explicit HostKinds(const std::vector<RunSummary>& reports);
  /// `device`: "host", "cuda:3". "" if unknown.
  std::string of(const std::string& host, const std::string& device) const;

 private:
  std::map<std::pair<std::string, std::string>, std::string> kinds_;  // by host and device
};

}  // namespace bench
