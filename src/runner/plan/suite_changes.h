// What the command line changes in a suite: --only CASE and --set CASE.PARAM=V.
#pragma once

#include "runner/plan/suite.h"

namespace bench {

/// Throws Error(usage) with the nearest case or parameter, Error(input) for a value the probe
/// refuses.
void apply_changes(Suite& suite, const SuiteChanges& changes, const ProbeCatalogue& catalogue);

}  // namespace bench
