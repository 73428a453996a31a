// Results of the KV cache benchmark, from the files of its ranks:
// option_1..3/trial_T/rank_R/kvcache_results_STAMP.json.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mlperf/storage/leaf_files.h"
#include "mlperf/storage/storage_subject.h"

namespace bench::mlperf::storage {

/// Of one rank in one trial. Rates in GiB/s, which the files call gbps.
struct KvRank {
  std::filesystem::path path;
  std::optional<double> read_rate, write_rate, storage_entries, read_p95_ms;
};

struct KvOption {
  std::map<int, std::map<int, KvRank>> trials;                  // by trial, then rank
  std::vector<std::filesystem::path> doubled = {}, wrong = {};  // several results; no JSON
  std::size_t pruned = 0;  // files that were replaced before publication
};

constexpr int kKvOptions = 3;

struct KvResults {
  std::array<KvOption, kKvOptions> options;
};

KvResults read_kv_results(const std::filesystem::path& leaf);

/// The sum over ranks of a rate, by trial; empty unless each of the trials has a value of each of
/// the ranks.
std::vector<double> sums_of(const KvOption& option, std::optional<double> KvRank::*rate, int trials,
                            int ranks);
/// Their mean over trials.
std::optional<double> mean_of_sums(const KvOption& option, std::optional<double> KvRank::*rate,
                                   int trials, int ranks);
/// As the summary or the arguments say; 0 ranks if unknown, and three trials.
struct KvShape {
  int trials = 3, ranks = 0;
};
KvShape kv_shape(const Json& summary, const Json& metadata);
/// The largest over ranks and trials.
std::optional<double> largest_of(const KvOption& option, std::optional<double> KvRank::*value);

/// Whether a run has no summary, or one that names failures.
bool failed_in_part(const LoadedLeaf& run);

}  // namespace bench::mlperf::storage
