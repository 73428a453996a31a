// What `benchctl report regression` says, as a night uses it: its newest findings are suspicions,
// too (it subtracts what the whole fleet did and shares what peers know of noise), and what a
// person acknowledged or called noise is none.
#pragma once

#include "results/nightly/suspects.h"
#include "results/regression/regression.h"

namespace bench {

/// `night`: the report of the night's runs, whose ids are `runs`. Added: findings of one host that
/// are open, worse and seen first in one of these runs, of series that are not suspected yet.
/// Removed: `slower` ones of which a person's last word is acked or noise.
void take_flags(const RegressionReport& flags, const RunSummary& night,
                const std::vector<std::string>& runs, Suspicions& suspicions);

}  // namespace bench
