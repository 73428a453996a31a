// Reads reference convergence points: the bundled files, one per round (rulesets/rcps/RULESET.json,
// schema schemas/mlperf_rcps.json), and the files of MLCommons (rcps_BENCHMARK.json).
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "mlperf/rcp/rcp_set.h"

namespace bench::mlperf {

/// By benchmark.
using RcpSets = std::map<std::string, RcpSet, std::less<>>;

/// The folder of the bundled points, rulesets/rcps.
std::filesystem::path rcp_folder();

/// The rounds in `folder`, ascending.
std::vector<std::string> rcp_rulesets(const std::filesystem::path& folder);

/// Loads and prunes the points. Throws Error(input) with the file or the known rounds.
RcpSets load_rcps(const std::filesystem::path& folder, std::string_view ruleset);

/// The bundled points of each round, loaded on first use.
class BundledRcps {
 public:
  /// None for a round without a file.
  const RcpSets& of(const std::string& ruleset);

 private:
  std::map<std::string, RcpSets> rounds_ = {};
};

/// Replaces the points in `sets` by those of the published files in `folder` or its subfolder
/// RULESET or training_RULESET; keeps the required runs. Throws Error(input) if no set has a file,
/// or for a damaged file.
void use_published_rcps(RcpSets& sets, const std::filesystem::path& folder);

/// The points of one published file in ascending batch order, not pruned. `json`: {NAME:
/// {"Benchmark", "BS", "Epochs to converge" or "samples to converge": [numbers], ...}}. Throws
/// Error(input).
std::vector<RcpPoint> published_points(const Json& json, const RcpSet& set,
                                       const std::string& origin);

}  // namespace bench::mlperf
