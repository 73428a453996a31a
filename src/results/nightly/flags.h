// Applies `benchctl report regression` to a night: its newest findings are suspicions too (it
// corrects for fleet-wide changes and pools noise over peers), and findings acknowledged or marked
// as noise are dropped.
#pragma once

#include "results/nightly/suspects.h"
#include "results/regression/regression.h"

namespace bench {

/// `night`: the report of the night's runs, whose IDs are `runs`. Adds open findings of single
/// hosts that got worse first in one of these runs, for series not yet suspected. Removes `slower`
/// ones last marked as acked or noise.
void take_flags(const RegressionReport& flags, const RunSummary& night,
                const std::vector<std::string>& runs, Suspicions& suspicions);

}  // namespace bench
