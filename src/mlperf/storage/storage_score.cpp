#include "mlperf/storage/storage_score.h"

#include <fmt/format.h>

#include <algorithm>

#include "mlperf/storage/kv_cache_results.h"
#include "mlperf/storage/vector_database_results.h"

namespace bench::mlperf::storage {
namespace {

/// A metric of each leaf; none if one of them lacks it.
std::vector<double> metric_of(const std::vector<const LoadedLeaf*>& leaves,
                              std::initializer_list<const char*> keys) {
  std::vector<double> values;
  for (const LoadedLeaf* one : leaves) {
    const auto value = number_at(one->summary(), keys);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

/// The mean of the values; nothing without any.
void add(StorageScore& score, const std::string& name, const std::vector<double>& values,
         const std::string& unit, bool headline = false) {
  if (!values.empty()) score.figures.push_back({name, mean_of(values), unit, headline, values});
}

std::vector<double> one_or_none(std::optional<double> value) {
  return value ? std::vector{*value} : std::vector<double>{};
}

/// The stamp of its folder, else its summary's start.
std::int64_t began_at(const LoadedLeaf& one) {
  const auto start = time_at(one.summary(), {"start"});
  return one.leaf.time_s.value_or(start ? static_cast<std::int64_t>(start->seconds) : 0);
}

void add_shape(StorageScore& score, const std::vector<const LoadedLeaf*>& leaves) {
  if (leaves.empty()) return;
  score.begins_s.clear();
  for (const LoadedLeaf* one : leaves) score.begins_s.push_back(began_at(*one));
  score.hosts = number_at(leaves.front()->summary(), {"num_hosts"});
  score.accelerators = number_at(leaves.front()->summary(), {"num_accelerators"});
}

StorageScore training_score(const Subject& subject) {
  StorageScore score;
  std::vector<const LoadedLeaf*> counted;
  for (std::size_t i = 1; i < subject.run.size(); ++i) counted.push_back(&subject.run[i]);
  score.runs = fmt::format("{} of {}: the first one warms up", counted.size(), subject.run.size());
  std::vector<double> rates = metric_of(counted, {"metric", "train_io_mean_MB_per_second"});
  for (double& rate : rates) rate /= 1024.0;
  if (rates.empty())
    score.problem = counted.empty() ? "there is no run after the one that warms up"
                                    : "a run has no train_io_mean_MB_per_second";
  add(score, "read", rates, "GiB/s", true);
  add(score, "samples", metric_of(counted, {"metric", "train_throughput_mean_samples_per_second"}),
      "samples/s");
  add(score, "accelerator utilisation", metric_of(counted, {"metric", "train_au_mean_percentage"}),
      "%");
  add_shape(score, counted);
  if (!counted.empty()) score.accelerator = accelerator_of(*counted.front());
  return score;
}

/// The invocations whose summary has the metric.
std::vector<const LoadedLeaf*> with_metric(const Subject& subject, const char* metric) {
  std::vector<const LoadedLeaf*> found;
  for (const LoadedLeaf& one : subject.run)
    if (number_at(one.summary(), {"metric", metric})) found.push_back(&one);
  return found;
}

StorageScore checkpointing_score(const Subject& subject) {
  StorageScore score;
  for (const auto& [kind, name] : {std::pair{"save", "write"}, std::pair{"load", "read"}}) {
    const std::string rate = fmt::format("{}_checkpoint_io_mean_GB_per_second", kind);
    const std::string time = fmt::format("{}_checkpoint_duration_mean_seconds", kind);
    const auto of = with_metric(subject, rate.c_str());
    add(score, name, metric_of(of, {"metric", rate.c_str()}), "GiB/s", true);
    add(score, fmt::format("{} time", name), metric_of(of, {"metric", time.c_str()}), "s");
    if (of.empty())
      score.problem +=
          fmt::format("{}nothing was measured of {}", score.problem.empty() ? "" : ", ", name);
    if (!of.empty()) add_shape(score, of);
  }
  score.runs = fmt::format("{} invocations; rates are those of rank 0", subject.run.size());
  return score;
}

const LoadedLeaf* counted_kv_run(const Subject& subject) {
  for (auto one = subject.run.rbegin(); one != subject.run.rend(); ++one)
    if (!failed_in_part(*one)) return &*one;
  return subject.run.empty() ? nullptr : &subject.run.back();
}

StorageScore kv_cache_score(const Subject& subject) {
  StorageScore score;
  const LoadedLeaf* one = counted_kv_run(subject);
  if (one == nullptr) {
    score.problem = "there is no run";
    return score;
  }
  score.runs = fmt::format("{} of {}", one->leaf.stamp, subject.run.size());
  if (failed_in_part(*one)) score.partial = "a part of the run failed";
  const KvResults results = read_kv_results(one->leaf.folder);
  const KvShape shape = kv_shape(one->summary(), one->metadata());
  for (int number = 1; number <= kKvOptions; ++number) {
    const KvOption& option = results.options[static_cast<std::size_t>(number - 1)];
    const std::string text = std::to_string(number);
    const auto rate = [&](std::optional<double> KvRank::*of, const char* key) {
      const std::vector<double> sums = sums_of(option, of, shape.trials, shape.ranks);
      return sums.empty() ? one_or_none(number_at(one->summary(), {"options", text.c_str(), key}))
                          : sums;
    };
    add(score, "option " + text + " read",
        rate(&KvRank::read_rate, "aggregated_read_bandwidth_gbps"), "GiB/s", true);
    add(score, "option " + text + " write",
        rate(&KvRank::write_rate, "aggregated_write_bandwidth_gbps"), "GiB/s");
    add(score, "option " + text + " throughput",
        one_or_none(number_at(
            one->summary(), {"options", text.c_str(), "aggregated_avg_throughput_tokens_per_sec"})),
        "tokens/s");
    const auto p95 =
        number_at(one->summary(), {"options", text.c_str(), "aggregated_storage_read_p95_ms"});
    add(score, "option " + text + " read P95",
        one_or_none(p95 ? p95 : largest_of(option, &KvRank::read_p95_ms)), "ms");
  }
  if (score.figures.empty()) score.problem = "no rank left a result, and the summary has none";
  score.hosts = number_at(one->summary(), {"host_count"});
  score.accelerators = number_at(one->summary(), {"total_ranks"});
  score.begins_s = {began_at(*one)};
  return score;
}

/// A figure of a run's summary, or of its statistics.
std::optional<double> queried(const LoadedLeaf& one, const Json& statistics, const char* key) {
  const auto told = number_at(one.summary(), {key});
  return told ? told : number_at(statistics, {key});
}

StorageScore vector_database_score(const Subject& subject) {
  StorageScore score;
  std::vector<double> rates, latencies, recalls;
  for (const LoadedLeaf& one : subject.run) {
    const Json statistics = statistics_of(one);
    if (const auto rate = queried(one, statistics, "throughput_qps")) {
      rates.push_back(*rate);
      score.begins_s.push_back(began_at(one));
    }
    if (const auto p99 = queried(one, statistics, "p99_latency_ms")) latencies.push_back(*p99);
    if (const auto recall = recall_of(one)) recalls.push_back(100.0 * *recall);
  }
  score.runs = fmt::format("{} of {}", rates.size(), subject.run.size());
  if (rates.empty()) score.problem = "no run has a rate of queries";
  add(score, "queries", rates, "queries/s", true);
  if (!rates.empty()) add(score, "queries of the first run", {rates.front()}, "queries/s");
  add(score, "P99 latency", latencies, "ms");
  add(score, "recall", recalls, "%");
  if (!subject.run.empty()) {
    score.vectors = number_at(subject.run.front().summary(), {"num_vectors"});
    score.dimension = number_at(subject.run.front().summary(), {"dimension"});
  }
  return score;
}

}  // namespace

StorageScore score_of(const Subject& subject) {
  switch (subject.workload.category) {
    case Category::training:
      return training_score(subject);
    case Category::checkpointing:
      return checkpointing_score(subject);
    case Category::kv_cache:
      return kv_cache_score(subject);
    case Category::vector_database:
      return vector_database_score(subject);
  }
  return {};
}

}  // namespace bench::mlperf::storage
