// Fuzzes `mlperf storage` with hostile files: any content of any file of any category gets findings
// and a score or a reason, printable and as JSON, and is imported or refused. The first byte is the
// category, or says that the rest is the YAML of a system.
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/json.h"
#include "mlperf/storage/storage_check.h"
#include "results/output/document/terminal.h"
#include "results/output/mlperf/storage_output.h"
#include "results/verdicts/published/storage_import.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/input_folder.h"
#include "tests/support/collected_import.h"

namespace {

using namespace bench;
namespace storage = mlperf::storage;

struct Place {
  const char* leaf;
  std::array<const char*, 5> files;
};

// Each with the files that its category reads.
constexpr std::array<Place, 5> kPlaces = {
    {{"training/unet3d/run/20260701_000000",
      {"summary.json", "training_a_metadata.json", "0_output.json", "0_per_epoch_stats.json",
       "fs_separation.json"}},
     {"checkpointing/llama3-8b/20260701_000000",
      {"summary.json", "checkpointing_a_metadata.json", "0_output.json", "0_per_epoch_stats.json",
       "fs_separation.json"}},
     {"kv_cache/llama3.1-8b/run/20260701_000000",
      {"summary.json", "kv_cache_a_metadata.json", "option_1/trial_0/rank_0/kvcache_results_a.json",
       "option_1/trial_0/rank_1/kvcache_results_a.json",
       "option_3/trial_0/rank_0/kvcache_results_a.json"}},
     {"vector_database/milvus/HNSW/run/20260701_000000",
      {"summary.json", "vector_database_a_metadata.json", "statistics.json", "recall_stats.json",
       "result_verdict.json"}},
     {"training/retinanet/run/20260701_000000",
      {"dlio.log", "../../../../../../systems/s.yaml", "../../../../../../systems/s.pdf",
       "../../../../../../systems/t.yaml", "../../../../../../systems/t.pdf"}}}};

class Trees {
 public:
  /// The tree of this category with `text` in all its files.
  std::filesystem::path with(std::size_t category, std::string_view text) {
    const Place& place = kPlaces.at(category);
    const std::string root = "tree" + std::to_string(category);
    const std::string leaf = root + "/closed/a/results/s/" + place.leaf;
    for (const char* file : place.files) {
      const std::filesystem::path path = leaf + "/" + file;
      if (!made_.at(category))
        std::filesystem::create_directories((folder_.path() / path).parent_path());
      folder_.write(path.native(), text);
    }
    made_.at(category) = true;
    return folder_.path() / root;
  }

 private:
  fuzz::InputFolder folder_;
  std::array<bool, kPlaces.size()> made_ = {};
};

void demand_import(const storage::StorageReport& report) {
  CollectedImport sink;
  try {
    storage::import_storage(report, sink);
  } catch (const Error& error) {
    fuzz::demand(error.kind() == ErrorKind::input, "refused as another error than of the input");
    return;
  }
  for (const auto& entry : sink.entries)
    fuzz::demand(entry.samples.values.size() == 1 && entry.samples.values[0] >= 0.0,
                 "an imported value is no measurement");
}

void demand_printable(const Document& document) {
  for (const char c : to_terminal(document, {}))
    fuzz::demand(c == '\n' || (static_cast<unsigned char>(c) >= ' ' && c != 0x7f),
                 "the text report is not printable");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static Trees trees;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const storage::Tree tree = storage::find_tree(trees.with(data[0] % kPlaces.size(), text));
  const storage::StorageReport report =
      storage::check_storage(tree, {}, storage::Edition::closed_round);
  fuzz::demand(report.workloads.size() == 1, "one workload");
  fuzz::demand(
      !report.workloads[0].score.figures.empty() || !report.workloads[0].score.problem.empty(),
      "neither a score nor a reason");
  demand_printable(storage::to_document(report, true));
  demand_printable(storage::scores_document(report));
  parse_json(dump(storage::to_json(report)), "JSON");
  demand_import(report);
  return 0;
}
