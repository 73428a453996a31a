// The reference convergence points of one benchmark in one round, and which of them count.
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
  std::int64_t runs = 0;   // that a submission must have
  std::string unit = {};   // "samples" or "epochs": what means count, and logs at an evaluation
  double allowance = 0.0;  // how far below the minimum a submission may lie all the same
  std::string allowance_where = {};  // where the rules say so
  std::string source = {};
  std::vector<RcpPoint> points = {};  // by ascending batch
};

/// Marks what does not count: points of batches below that with the fastest mean, and points slower
/// than the line between their neighbours. As the official checker walks: the left neighbour of a
/// point that was removed is not looked at again, so that the rest need not be convex.
void prune(RcpSet& set);

enum class RcpMatch { exact, interpolated, below, missing, none };
/// "exact", "interpolated", "below" (all batches, so that the smallest is compared with), "missing"
/// (above all batches), "none" (there are no points).
std::string_view to_string(RcpMatch match);

/// What a batch is compared with.
struct RcpReference {
  RcpMatch match = RcpMatch::none;
  std::optional<RcpPoint> point = {};  // none for `missing` and `none`
};

/// Among the points kept. Between two of them mean and deviation are interpolated, and the minimum
/// is that of 2 * runs values.
RcpReference reference_at(const RcpSet& set, double batch);

}  // namespace bench::mlperf
