// Tells a program of each finding: one call a finding, the finding's JSON on its standard input.
// The program is started directly: no shell ever sees text of a host.
#pragma once

#include <string>
#include <vector>

#include "core/units.h"
#include "results/nightly/night.h"

namespace bench {

/// Throws Error(environment) for a program that is missing or cannot be started, before the night
/// begins rather than after it.
void check_hooks(const std::vector<std::string>& programs);

/// Every program once for each finding that was not dropped, one after another; one that has not
/// ended within `patience` is killed. What goes wrong is said in the call's trouble.
std::vector<HookCall> call_hooks(const std::vector<std::string>& programs,
                                 const std::vector<NightFinding>& findings,
                                 Seconds patience = Seconds{30.0});

}  // namespace bench
