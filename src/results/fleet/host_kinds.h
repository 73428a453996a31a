// What the hosts of some runs are, in the words of FleetKey::kind.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "results/run_summary.h"

namespace bench {

/// By what a host measured on, because only a job on a GPU tells of GPUs.
class HostKinds {
 public:
  explicit HostKinds(const std::vector<RunSummary>& reports);
  /// `device`: "host", "cuda:3". "" where nothing is known of it.
  std::string of(const std::string& host, const std::string& device) const;

 private:
  std::map<std::pair<std::string, std::string>, std::string> kinds_;  // by host and device
};

}  // namespace bench
