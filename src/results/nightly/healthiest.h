// Ranks hosts by health, from the findings of nights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/nightly/past.h"

namespace bench {

struct HostHealth {
  std::string host;
  std::size_t incidents = 0;  // confirmed in the last kIncidentDays
  double age_s = kNoValue;    // since its last check; infinite if never
  std::string unfit = {};     // why it is unfit; "" if fit
};

/// All hosts, healthiest first: fewer incidents, then the more recent check, then list order. Unfit
/// hosts come last: an open confirmed finding, or no check within `days`.
std::vector<HostHealth> by_health(const std::vector<std::string>& hosts, const NightPast& past,
                                  const PastIndex& index, double days);

}  // namespace bench
