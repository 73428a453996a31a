// Vector databases: five times the queries, with a measured recall.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/text.h"
#include "mlperf/storage/storage_subject.h"
#include "mlperf/storage/vector_database_results.h"

namespace bench::mlperf::storage {
namespace {

void check_load(Subject& subject) {
  for (const LoadedLeaf& made : subject.datagen) {
    if (!made.files.summary.ok()) continue;
    const auto wanted = number_at(made.summary(), {"num_vectors"});
    const auto inserted = number_at(made.summary(), {"inserted_vectors"});
    if (wanted && inserted && *inserted < *wanted)
      subject.add("5.2.1", made.files.summary.path, "not all vectors were inserted", shown(*wanted),
                  shown(*inserted));
  }
}

void check_vectors(Subject& subject, const LoadedLeaf& one) {
  const auto vectors = number_at(one.summary(), {"num_vectors"});
  const auto dimension = number_at(one.summary(), {"dimension"});
  if (!vectors || !dimension) {
    subject.add("5.1.1", one.files.summary.path,
                "the number of vectors and their dimension are missing");
    return;
  }
  for (const LoadedLeaf& made : subject.datagen) {
    const auto loaded = number_at(made.summary(), {"dimension"});
    if (loaded && *loaded != *dimension)
      subject.add("5.1.2", one.files.summary.path,
                  "vectors of another dimension were queried than were loaded", shown(*loaded),
                  shown(*dimension));
  }
}

void check_recall(Subject& subject, const LoadedLeaf& one) {
  const auto recall = recall_of(one);
  if (!recall)
    subject.add("5.3.2", one.leaf.folder, "there is no recall");
  else if (!(*recall > 0.0))
    subject.add("5.3.2", one.leaf.folder, "no query found what it should", "a recall above 0",
                shown(*recall));
}

void check_metrics(Subject& subject, const LoadedLeaf& one) {
  const Json statistics = statistics_of(one);
  std::vector<std::string> missing;
  for (const char* name :
       {"throughput_qps", "mean_latency_ms", "p95_latency_ms", "p99_latency_ms", "p999_latency_ms"})
    if (!number_at(one.summary(), {name}) && !number_at(statistics, {name}))
      missing.emplace_back(name);
  if (!missing.empty())
    subject.add("5.3.4", one.leaf.folder, "figures are missing: " + join(missing, ", "));
  const auto told = number_at(one.summary(), {"throughput_qps"});
  const auto queries = number_at(one.summary(), {"query_count"});
  const auto seconds = number_at(one.summary(), {"total_time_seconds"});
  constexpr double kRounding = 1e-3;
  if (told && queries && seconds && *seconds > 0.0 && differ(*told, *queries / *seconds, kRounding))
    subject.add("mean.vector_database", one.files.summary.path,
                "throughput_qps is not the queries over the time", shown(*queries / *seconds),
                shown(*told));
}

void check_reference(Subject& subject, const LoadedLeaf& one) {
  const JsonFile verdict = read_json_file(one.leaf.folder / "result_verdict.json");
  check_json(subject, verdict);
  if (verdict.state == FileState::absent)
    subject.add("5.3.5", one.leaf.folder, "result_verdict.json is missing");
  if (!verdict.ok()) return;
  const auto coverage = number_at(verdict.value, {"flat_setup", "coverage"});
  if (!flag_at(verdict.value, {"flat_setup", "ok"}).value_or(true))
    subject.add_as(Severity::error, "5.3.5", verdict.path,
                   "the reference for recall could not be built");
  if (coverage && *coverage < 1.0)
    subject.add_as(Severity::error, "5.3.5", verdict.path, "the reference for recall lacks vectors",
                   "1", shown(*coverage));
}

void check_ranks_of(Subject& subject, const LoadedLeaf& one) {
  const Json statistics = statistics_of(one);
  for (const char* name : {"missing_ranks", "failed_ranks"}) {
    const Json& ranks = value_at(statistics, {"mpi", name});
    if (ranks.is_array() && !ranks.empty())
      subject.add("ranks.missing", one.leaf.folder, fmt::format("the statistics name {}", name),
                  "none", excerpt(ranks));
  }
}

void check_closed(Subject& subject, const LoadedLeaf& one) {
  if (!subject.workload.closed()) return;
  static const std::set<std::string> kIndices = {"DISKANN", "HNSW", "AISAQ"};
  const auto engine = text_at(one.summary(), {"database", "database"});
  const auto index = text_at(one.summary(), {"index_type"});
  const std::string& model = subject.workload.model;
  const std::string folder = model.substr(model.find('/') + 1);
  if (engine && to_lower(*engine) != "milvus")
    subject.add("5.6.2", one.files.summary.path, "the database is another", "milvus",
                brief(*engine));
  if (!kIndices.contains(folder))
    subject.add("5.6.3", one.leaf.folder, "the index is not one of the table",
                "DISKANN, HNSW or AISAQ", brief(folder));
  else if (index && *index != folder)
    subject.add("5.6.3", one.files.summary.path, "the index is another than the folder's", folder,
                brief(*index));
}

}  // namespace

void check_vector_database(Subject& subject) {
  constexpr std::size_t kRuns = 5;
  if (subject.run.size() != kRuns)
    subject.add("5.3.1", subject.workload.folder / "run", "queries must be run five times", "5",
                std::to_string(subject.run.size()));
  check_load(subject);
  for (const LoadedLeaf& one : subject.run) {
    if (one.files.summary.ok()) check_vectors(subject, one);
    // Of files that were replaced nothing is known.
    const bool known = one.files.summary.ok() || (one.files.summary.state == FileState::absent &&
                                                  !statistics_are_pruned(one));
    if (known) check_recall(subject, one);
    if (known) check_metrics(subject, one);
    check_reference(subject, one);
    check_ranks_of(subject, one);
    check_closed(subject, one);
  }
  check_folders(subject, "5.4.1", {"storage_root", "data_dir", "vdb_data_path"});
  check_separation(subject, "5.4.2");
}

}  // namespace bench::mlperf::storage
