#include "mlperf/storage/kv_cache_results.h"

#include <algorithm>

#include "core/text.h"

namespace bench::mlperf::storage {

namespace fs = std::filesystem;

namespace {

/// The number after a prefix: "trial_2" is 2.
std::optional<int> numbered(const std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() > prefix.size() + 6) return {};
  const std::string digits = name.substr(prefix.size());
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return {};
  return parse_as<int>(digits);
}

std::map<int, fs::path> numbered_folders(const fs::path& folder, std::string_view prefix) {
  std::map<int, fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (const auto number = numbered(at->path().filename().native(), prefix);
        number && !at->is_symlink(error) && at->is_directory(error))
      found[*number] = at->path();
  return found;
}

std::vector<fs::path> result_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().native();
    if (name.starts_with("kvcache_results_") && name.ends_with(".json"))
      files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

KvRank rank_from(const JsonFile& file) {
  const auto of = [&](const char* key) {
    return number_at(file.value, {"summary", "cache_stats", key});
  };
  return {file.path, of("tier_storage_read_bandwidth_gbps"),
          of("tier_storage_write_bandwidth_gbps"), of("storage_entries"),
          of("storage_read_p95_ms")};
}

void read_rank(const fs::path& folder, int trial, int rank, KvOption& option) {
  const std::vector<fs::path> files = result_files(folder);
  if (files.empty()) return;
  if (files.size() > 1) option.doubled.push_back(folder);
  const JsonFile file = read_json_file(files.front());
  if (file.ok())
    option.trials[trial][rank] = rank_from(file);
  else if (file.state == FileState::pruned)
    ++option.pruned;
  else
    option.wrong.push_back(files.front());
}

}  // namespace

KvResults read_kv_results(const fs::path& leaf) {
  KvResults results;
  for (const auto& [number, of_option] : numbered_folders(leaf, "option_")) {
    if (number < 1 || number > kKvOptions) continue;
    KvOption& option = results.options[static_cast<std::size_t>(number - 1)];
    for (const auto& [trial, of_trial] : numbered_folders(of_option, "trial_"))
      for (const auto& [rank, of_rank] : numbered_folders(of_trial, "rank_"))
        read_rank(of_rank, trial, rank, option);
  }
  return results;
}

KvShape kv_shape(const Json& summary, const Json& metadata) {
  const auto whole = [](std::optional<double> told, std::optional<double> argument, int otherwise) {
    const double number = told.value_or(argument.value_or(otherwise));
    return number >= 1.0 && number <= 1e6 ? static_cast<int>(number) : otherwise;
  };
  return {.trials = whole(number_at(summary, {"trials_per_option"}),
                          number_at(metadata, {"args", "trials"}), 3),
          .ranks = whole(number_at(summary, {"total_ranks"}),
                         number_at(metadata, {"args", "num_processes"}), 0)};
}

std::vector<double> sums_of(const KvOption& option, std::optional<double> KvRank::*rate, int trials,
                            int ranks) {
  if (static_cast<int>(option.trials.size()) != trials) return {};
  std::vector<double> sums;
  for (const auto& [trial, of_trial] : option.trials) {
    if (static_cast<int>(of_trial.size()) != ranks) return {};
    double sum = 0.0;
    for (const auto& [number, rank] : of_trial) {
      if (!(rank.*rate)) return {};
      sum += *(rank.*rate);
    }
    sums.push_back(sum);
  }
  return sums;
}

std::optional<double> mean_of_sums(const KvOption& option, std::optional<double> KvRank::*rate,
                                   int trials, int ranks) {
  const std::vector<double> sums = sums_of(option, rate, trials, ranks);
  return sums.empty() ? std::nullopt : std::optional(mean_of(sums));
}

std::optional<double> largest_of(const KvOption& option, std::optional<double> KvRank::*value) {
  std::optional<double> largest;
  for (const auto& [trial, ranks] : option.trials)
    for (const auto& [number, rank] : ranks)
      if (rank.*value && (!largest || *(rank.*value) > *largest)) largest = rank.*value;
  return largest;
}

bool failed_in_part(const LoadedLeaf& run) {
  const Json& failures = value_at(run.summary(), {"trial_failures"});
  bool part = flag_at(run.summary(), {"partial_failure"}).value_or(false);
  for (const char* number : {"1", "2", "3"})
    part = part || flag_at(run.summary(), {"options", number, "partial_failure"}).value_or(false);
  return !run.files.summary.ok() || part || (failures.is_object() && !failures.empty());
}

}  // namespace bench::mlperf::storage
