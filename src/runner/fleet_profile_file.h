// What a fleet taught, as `benchctl report fleet --learn FILE` keeps it.
#pragma once

#include <string>

#include "results/fleet/fleet_profile.h"

namespace bench {

/// Throws Error(environment) when it cannot be read, Error(input) when it is none.
FleetProfile read_fleet_profile(const std::string& path);

}  // namespace bench
