// KV cache. The official checker has no checks of it yet: these follow section 6 of the rules.
#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "mlperf/storage/kv_cache_results.h"
#include "mlperf/storage/storage_subject.h"

namespace bench::mlperf::storage {
namespace {

void check_arguments(Subject& subject, const LoadedLeaf& one) {
  if (!subject.workload.closed() || !one.files.metadata.ok()) return;
  constexpr std::array<std::pair<const char*, double>, 3> kTable = {
      {{"seed", 42.0}, {"trials", 3.0}, {"inter_option_delay", 90.0}}};
  for (const auto& [name, value] : kTable) {
    const auto found = number_at(one.metadata(), {"args", name});
    if (found && *found != value)
      subject.add("6.3.2", one.files.metadata.path,
                  fmt::format("the closed division asks for another {}", name), shown(value),
                  shown(*found));
  }
}

void check_complete(Subject& subject, const LoadedLeaf& one, const KvResults& results) {
  const KvShape shape = kv_shape(one.summary(), one.metadata());
  for (int number = 1; number <= kKvOptions; ++number) {
    const KvOption& option = results.options[static_cast<std::size_t>(number - 1)];
    for (const auto& path : option.doubled)
      subject.add("6.3.3", path, "a rank has several results; the first counts");
    for (const auto& path : option.wrong) subject.add("leaf.json", path, "the file is no JSON");
    std::size_t found = option.pruned + option.wrong.size();
    for (const auto& [trial, of_trial] : option.trials) found += of_trial.size();
    const auto wanted =
        static_cast<std::size_t>(shape.ranks) * static_cast<std::size_t>(shape.trials);
    if (found == 0)
      subject.add("6.3.3", one.leaf.folder, fmt::format("option {} has no results", number));
    else if (found < wanted)
      subject.add("6.3.3", one.leaf.folder,
                  fmt::format("option {}: results of ranks are missing", number),
                  fmt::format("{} ranks in {} trials", shape.ranks, shape.trials),
                  fmt::format("{} of {} files", found, wanted));
  }
}

void check_told_failures(Subject& subject, const LoadedLeaf& one) {
  if (!one.files.summary.ok()) return;
  if (flag_at(one.summary(), {"partial_failure"}).value_or(false))
    subject.add("6.3.3", one.files.summary.path, "the summary says that a part failed",
                "partial_failure false", "true");
  const Json& failures = value_at(one.summary(), {"trial_failures"});
  if (failures.is_object() && !failures.empty())
    subject.add("6.3.3", one.files.summary.path, "the summary names trials that failed", "none",
                excerpt(failures));
  for (const char* number : {"1", "2", "3"}) {
    if (flag_at(one.summary(), {"options", number, "partial_failure"}).value_or(false))
      subject.add("6.3.3", one.files.summary.path,
                  fmt::format("option {}: the summary says that a part failed", number));
    const Json& missing = value_at(one.summary(), {"options", number, "missing_files"});
    if (missing.is_array() && !missing.empty())
      subject.add("6.3.3", one.files.summary.path,
                  fmt::format("option {}: the summary names missing files", number), "none",
                  std::to_string(missing.size()));
  }
}

void check_storage_used(Subject& subject, const LoadedLeaf& one, const KvResults& results) {
  for (const int number : {1, 3}) {
    const KvOption& option = results.options[static_cast<std::size_t>(number - 1)];
    std::size_t without = 0, all = 0;
    for (const auto& [trial, ranks] : option.trials)
      for (const auto& [rank, of_rank] : ranks) {
        ++all;
        if (of_rank.storage_entries && !(*of_rank.storage_entries > 0.0)) ++without;
      }
    if (without > 0)
      subject.add("6.3.4", one.leaf.folder,
                  fmt::format("option {}: ranks put no block into storage", number), "0",
                  fmt::format("{} of {}", without, all));
  }
}

void check_sums(Subject& subject, const LoadedLeaf& one, const KvResults& results) {
  constexpr std::array<std::pair<const char*, std::optional<double> KvRank::*>, 2> kRates = {
      {{"aggregated_read_bandwidth_gbps", &KvRank::read_rate},
       {"aggregated_write_bandwidth_gbps", &KvRank::write_rate}}};
  constexpr double kRounding = 1e-4;
  for (int number = 1; number <= kKvOptions; ++number)
    for (const auto& [name, rate] : kRates) {
      const KvOption& option = results.options[static_cast<std::size_t>(number - 1)];
      const KvShape shape = kv_shape(one.summary(), one.metadata());
      const auto computed = mean_of_sums(option, rate, shape.trials, shape.ranks);
      const auto told = number_at(one.summary(), {"options", std::to_string(number).c_str(), name});
      if (computed && told && differ(*computed, *told, kRounding))
        subject.add("mean.kv_cache", one.files.summary.path,
                    fmt::format("option {}: {} is not the sum over ranks, averaged over trials",
                                number, name),
                    shown(*computed), shown(*told));
    }
}

/// Only the submitter knows which run counts.
void check_one_run(Subject& subject) {
  std::vector<std::string> measured;
  for (const LoadedLeaf& one : subject.run)
    if (!failed_in_part(one)) measured.push_back(one.leaf.stamp);
  if (measured.size() > 1)
    subject.add("runs.several", subject.workload.folder,
                "several runs were measured, of which a table shows one", "1",
                fmt::format("{}: {}", measured.size(), printable(join(measured, ", "))));
}

}  // namespace

void check_kv_cache(Subject& subject) {
  for (const std::string& name : subject.workload.unknown)
    subject.add("2.1.10", subject.workload.folder / name, "the folder is no phase of a KV cache",
                "run");
  if (subject.run.empty()) subject.add("6.3.3", subject.workload.folder, "there is no run");
  check_one_run(subject);
  for (const LoadedLeaf& one : subject.run) {
    const KvResults results = read_kv_results(one.leaf.folder);
    check_arguments(subject, one);
    check_complete(subject, one, results);
    check_told_failures(subject, one);
    check_storage_used(subject, one, results);
    check_sums(subject, one, results);
  }
}

}  // namespace bench::mlperf::storage
