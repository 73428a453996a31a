// Kinds of hosts (FleetKey::kind) from the facts of runs.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "results/run/run_summary.h"

namespace bench {

/// What hosts must share to be compared: product, CPU, threads, memory, GPUs, from the
/// configuration of a value. "" if unknown.
std::string kind_of_host(const Json& configuration);

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
