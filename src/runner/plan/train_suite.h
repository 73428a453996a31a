// The suite of `benchctl train`: a GEMM case for MFU, then one case of probe `training` with one
// job per seed; for scaling, one case per number of ranks; for several batches, one job per seed
// and batch. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/plan/exchange_request.h"
#include "runner/plan/planner.h"

namespace bench {

enum class ScalingKind { none, strong, weak };

/// How a training is split over its ranks: copies of the model (dp) whose matrices (tp) and layers
/// (pp) are divided, of which some divide the experts (ep), and what copies share (zero 1 to 3, of
/// the probe's schema).
struct SplitRequest {
  int tp = 1, cp = 1, pp = 1;
  std::optional<int> dp = {};  // nothing: as many as the ranks allow
  bool sp = false;             // tensor ranks divide rows too
  int vp = 1;                  // chunks of each stage
  bool zb = false;             // zero-bubble schedule
  int zero = 0;
  int ep = 1;

  /// Ranks that are needed; at most kMostRanks, of split_from().
  int ranks() const { return ranks_of_copy() * dp.value_or(ep); }
  /// Of one copy; ep copies share its experts.
  int ranks_of_copy() const { return tp * cp * pp; }
  /// Whether each rank trains in one thread.
  bool divides_model() const { return ranks_of_copy() > 1 || ep > 1 || zero > 1; }
};

/// Parses "tp=2,sp=1,cp=2,pp=2,vp=2,zb=0,ep=1,dp=1,zero=1", keys in any order. Throws Error(usage).
SplitRequest split_from(const std::string& text);

struct TrainRequest {
  std::string workload;
  std::string preset = "tiny";
  std::string device = "host";
  std::vector<std::uint64_t> seeds = {1};
  std::vector<int> ranks = {};  // per host; several for scaling; empty: one
  bool hosts = false;           // use all hosts of the hosts file, or a ladder of them
  ScalingKind scaling = ScalingKind::none;
  SplitRequest split = {};
  ExchangeRequest exchange = {};
  // Unset values are the preset's (schemas/probes/training.json).
  std::optional<std::int64_t> steps = {}, lanes = {}, batch = {}, vocabulary = {};
  std::optional<double> target = {};
  std::vector<std::int64_t> batches = {};    // a ladder of global batch sizes; empty: one
  std::optional<std::int64_t> samples = {};  // that each of them trains on
  bool largest_batch = false;                // the largest that fits into memory, for few steps
  bool profile = false;                      // record where steps spend time and memory
  std::string dtype = {};
  std::string data = {}, evaluation_data = {};  // files or folders; "": generated
  std::string offload = {};                     // folder for optimizer state; "": in memory
  std::string export_to = {};                   // folder for the weights; "": none
  double timeout_s = 86400.0;
  bool telemetry = true;
};

/// Parses "1,2,4". Throws Error(usage) with the option unless all are integers in low..high.
std::vector<std::uint64_t> numbers_from(const std::string& text, const std::string& option,
                                        std::uint64_t low, std::uint64_t high);

/// Default threads per rank for scaling on one host: `slots` divided by the largest number of
/// ranks, rounded down to a power of two, so that points differ only in ranks. Lanes must divide
/// the batch per rank, and all presets have a power of two as batch.
int lanes_of_scaling(int slots, const std::vector<int>& ranks);

/// Samples for a ladder of these batches: 50 steps of the largest, in whole steps of all if that is
/// less than twice as many.
std::int64_t samples_of_ladder(const std::vector<std::int64_t>& batches);

/// Throws Error(usage) unless so many ranks can be split so.
void check_ranks_of_split(const SplitRequest& split, int ranks);

/// A suite by schemas/suite.json. Throws Error(usage) for inconsistent options.
Json train_suite(const TrainRequest& request);

/// Weak scaling: sets the batch of each job to ranks times `batch`. Throws Error(input) if the
/// probe rejects it.
void fix_batch_of_rank(Plan& plan, std::int64_t batch, const ProbeCatalogue& catalogue);

}  // namespace bench
