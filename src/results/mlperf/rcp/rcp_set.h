// The reference convergence points of one benchmark in one round, and their pruning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/mlperf/rcp/rcp_point.h"

namespace bench::mlperf {

struct RcpSet {
  std::string ruleset = {}, benchmark = {};
  std::int64_t runs = 0;   // required of a submission
  std::string unit = {};   // "samples" or "epochs": the unit of means
  double allowance = 0.0;  // how far below the minimum a submission may be
  std::string allowance_where = {};  // section of the rules
  std::string source = {};
  std::vector<RcpPoint> points = {};  // by ascending batch
};

/// Marks the points that do not count: those with a smaller batch than the fastest one, and those
/// slower than the line between their neighbours. As in the official checker, the left neighbour of
/// a removed point is not checked again, so the result need not be convex.
void prune(RcpSet& set);

enum class RcpMatch { exact, interpolated, below, missing, none };
/// "exact", "interpolated", "below" (below all batches: the smallest is used), "missing" (above all
/// batches), "none" (no points).
std::string_view to_string(RcpMatch match);

/// The reference for a batch.
struct RcpReference {
  RcpMatch match = RcpMatch::none;
  std::optional<RcpPoint> point = {};  // none for `missing` and `none`
};

/// Uses the kept points. Between two points, mean and deviation are interpolated, and the minimum
/// is that of 2 * runs values.
RcpReference reference_at(const RcpSet& set, double batch);

}  // namespace bench::mlperf
