// The hosts that a job had best run on, by what nights found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/nightly/past.h"

namespace bench {

struct HostHealth {
  std::string host;
  std::size_t incidents = 0;  // confirmed in the last kIncidentDays
  double age_s = kNoValue;    // since its last check; infinite for never
  std::string unfit = {};     // why it is not to be taken; "" for one that may be
};

/// All of them, the healthiest first: fewer incidents, then the fresher check, then as they stand
/// in the list. Unfit, and last: a confirmed finding after which the same check was not ok again,
/// or no check within `days`.
std::vector<HostHealth> by_health(const std::vector<std::string>& hosts, const NightPast& past,
                                  const PastIndex& index, double days);

}  // namespace bench
