// Diagnoses, and the rules that they are made by, for programs.
#pragma once

#include <vector>

#include "core/json.h"
#include "results/verdicts/diagnosis/diagnosis.h"

namespace bench::diagnosis {

/// An array; each item by $defs/diagnosis of schemas/report.json.
Json to_json(const std::vector<Diagnosed>& list);
Json to_json(const Diagnosed& one);

/// The rules in their order: [{rule, cause, description, condition, ceiling, experiment, fix}].
Json rules_json();

}  // namespace bench::diagnosis
