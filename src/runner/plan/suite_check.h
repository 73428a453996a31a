// Checks that a case fits its probe, which the suite's schema cannot express.
#pragma once

#include <string>

#include "runner/plan/suite.h"

namespace bench {

/// `at` is the case's JSON pointer in `origin`. Throws Error(input).
void check_case(const Case& suite_case, const std::string& origin, const std::string& at,
                const ProbeCatalogue& catalogue);

/// The case's parameters with one value from each axis, checked, defaults filled in.
Json complete_params(const ProbeEntry& probe, const Json& params, const std::string& origin,
                     const std::string& at);

/// Checks one parameter, with defaults for the others.
void check_param(const ProbeEntry& probe, const std::string& name, const Json& value,
                 const std::string& origin, const std::string& at);

}  // namespace bench
