// What a suite's schema cannot say: that a case fits the probe it names.
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

/// One value for one parameter, the other parameters being what they are by default.
void check_param(const ProbeEntry& probe, const std::string& name, const Json& value,
                 const std::string& origin, const std::string& at);

}  // namespace bench
