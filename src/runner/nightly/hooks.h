// Calls a program for each finding, with its JSON on standard input. The program is started
// directly: no shell sees text from a host.
#pragma once

#include <string>
#include <vector>

#include "core/units.h"
#include "results/nightly/night.h"

namespace bench {

/// Throws Error(environment) for a missing or non-executable program, before the night starts.
void check_hooks(const std::vector<std::string>& programs);

/// Calls every program for each finding that was not dropped, in sequence; kills it after
/// `patience`. Failures are noted in `trouble`.
std::vector<HookCall> call_hooks(const std::vector<std::string>& programs,
                                 const std::vector<NightFinding>& findings,
                                 Seconds patience = Seconds{30.0});

}  // namespace bench
