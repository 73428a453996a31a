// The JSON form of one result, shared by the report and the exports.
#pragma once

#include "core/json.h"
#include "results/run/run_summary.h"

namespace bench {

/// Base units; missing values are null, never 0.
Json to_json(const Result& result);

}  // namespace bench
