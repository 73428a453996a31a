// Changes to a suite from the command line: --only CASE and --set CASE.PARAM=VALUE.
#pragma once

#include "runner/plan/suite.h"

namespace bench {

/// Throws Error(usage) with a suggestion for an unknown case or parameter, Error(input) for an invalid
/// value.
void apply_changes(Suite& suite, const SuiteChanges& changes, const ProbeCatalogue& catalogue);

}  // namespace bench
