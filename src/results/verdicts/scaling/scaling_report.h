// Scaling report: for each metric measured at several numbers of ranks (or hosts, or of a parameter
// such as threads) efficiency with its interval, fitted law and predictions. Depends on the records
// only.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "results/run/run_records.h"
#include "results/verdicts/scaling/scaling_curve.h"

namespace bench {

struct ScalingReport {
  std::vector<ScalingCurve> curves;
  std::vector<std::string> runs;
  std::string over;
  std::size_t seen = 0;  // metrics at some number of workers, with or without a second
  std::vector<std::string> warnings;
  ExitCode exit_code = ExitCode::not_measured;  // ok if there is a curve
};

/// Throws Error(input) for a prediction beyond twice the largest number of a curve.
ScalingReport make_scaling_report(std::span<const RunRecords> runs,
                                  const ScalingSettings& settings);

}  // namespace bench
