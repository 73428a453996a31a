// Reference convergence points from files: our own, one a round (rulesets/rcps/RULESET.json,
// checked by schemas/mlperf_rcps.json), and those that MLCommons publishes (rcps_BENCHMARK.json).
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "results/mlperf/rcp/rcp_set.h"

namespace bench::mlperf {

/// By benchmark.
using RcpSets = std::map<std::string, RcpSet, std::less<>>;

/// Where ours lie: rulesets/rcps beside the program's other data.
std::filesystem::path rcp_folder();

/// The rounds that `folder` has, ascending.
std::vector<std::string> rcp_rulesets(const std::filesystem::path& folder);

/// Pruned. Throws Error(input) naming the file, or the rounds there are.
RcpSets load_rcps(const std::filesystem::path& folder, std::string_view ruleset);

/// Takes the points of the published files in `folder`, or in its subfolder RULESET or
/// training_RULESET, in place of those in `sets`; how many runs a benchmark takes stays. Throws
/// Error(input) where there is no file for any of the sets, or a damaged one.
void use_published_rcps(RcpSets& sets, const std::filesystem::path& folder);

/// The points of one published file, by ascending batch, not pruned. `json`: {NAME: {"Benchmark",
/// "BS", "Epochs to converge" or "samples to converge": [numbers], ...}}. Throws Error(input).
std::vector<RcpPoint> published_points(const Json& json, const RcpSet& set,
                                       const std::string& origin);

}  // namespace bench::mlperf
