#include "mlperf/storage/vector_database_results.h"

#include <algorithm>
#include <array>

namespace bench::mlperf::storage {

namespace {

constexpr std::array kStatistics = {"statistics.json", "vectordb/simple/statistics.json"};

}  // namespace

Json statistics_of(const LoadedLeaf& one) {
  for (const char* place : kStatistics) {
    JsonFile file = read_json_file(one.leaf.folder / place);
    if (file.ok()) return std::move(file.value);
  }
  return nullptr;
}

bool statistics_are_pruned(const LoadedLeaf& one) {
  return statistics_of(one).is_null() && std::ranges::any_of(kStatistics, [&](const char* place) {
           return read_json_file(one.leaf.folder / place).state == FileState::pruned;
         });
}

namespace {

/// A number, or the best-known key of an object.
std::optional<double> recall_in(const Json& json) {
  if (const auto number = number_at(json, {"recall"})) return number;
  for (const char* key : {"max_recall", "mean_recall", "recall_at_k", "recall"}) {
    if (const auto inner = number_at(json, {"recall", key})) return inner;
    if (const auto own = number_at(json, {key})) return own;
  }
  return {};
}

}  // namespace

std::optional<double> recall_of(const LoadedLeaf& one) {
  if (const auto found = recall_in(one.summary())) return found;
  const JsonFile own = read_json_file(one.leaf.folder / "recall_stats.json");
  if (const auto found = recall_in(own.value)) return found;
  return recall_in(statistics_of(one));
}

}  // namespace bench::mlperf::storage
