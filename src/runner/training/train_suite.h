// What `benchctl train` asks for, as a suite: one case of the probe `training`, one job a seed; for
// a scaling one case a number of ranks. Before them the products that MFU is told by. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/plan/planner.h"

namespace bench {

enum class ScalingKind { none, strong, weak };

struct TrainRequest {
  std::string workload;
  std::string preset = "tiny";
  std::string device = "host";
  std::vector<std::uint64_t> seeds = {1};
  std::vector<int> ranks = {};  // per host; several for a scaling; empty: one
  bool hosts = false;           // of a hosts file: all of them together, or a ladder of them
  ScalingKind scaling = ScalingKind::none;
  // What is left out is the preset's, as schemas/probes/training.json says.
  std::optional<std::int64_t> steps = {}, lanes = {}, batch = {};
  std::optional<double> target = {};
  std::string dtype = {};
  std::string data = {}, evaluation_data = {};  // files or folders; "": generated
  double timeout_s = 86400.0;
  bool telemetry = true;
};

/// "1,2,4". Throws Error(usage) naming the option for anything but whole numbers low..high.
std::vector<std::uint64_t> numbers_from(const std::string& text, const std::string& option,
                                        std::uint64_t low, std::uint64_t high);

/// Threads of a rank where a scaling over the ranks of one host names none. Its points differ in
/// their ranks alone, so all have as many: the share of `slots` CPUs that the most ranks leave
/// each, rounded down to a power of two. The probe refuses lanes that do not divide a rank's part
/// of the batch, and the batches of all presets are powers of two.
int lanes_of_scaling(int slots, const std::vector<int>& ranks);

/// By schemas/suite.json. Throws Error(usage) for demands that do not fit together.
Json train_suite(const TrainRequest& request);

/// Weak scaling: the batch of each job becomes its ranks times `batch`. Throws Error(input) for one
/// that the probe does not take.
void fix_batch_of_rank(Plan& plan, std::int64_t batch, const ProbeCatalogue& catalogue);

}  // namespace bench
