// What an optimizer fixes, by the keys of MLPerf's log; the rates are the schedule's.
#pragma once

#include "core/json.h"
#include "probes/training/optimizers/optimizer.h"

namespace bench::training {

/// {"opt_name": "adamw", "opt_adamw_beta_1": 0.9, ...}
Json mllog_options(const AdamwOptions& options);

}  // namespace bench::training
