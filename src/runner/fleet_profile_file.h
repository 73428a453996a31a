// Criteria written by `benchctl report fleet --learn FILE`.
#pragma once

#include <string>

#include "results/fleet/fleet_profile.h"

namespace bench {

/// Throws Error(environment) if unreadable, Error(input) if invalid.
FleetProfile read_fleet_profile(const std::string& path);

}  // namespace bench
