#include "probes/procedures/training_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "probes/data/formats/folder_listing.h"
#include "probes/data/formats/page_cache.h"

namespace bench {
namespace {

using Files = std::vector<std::filesystem::path>;

constexpr double kLeftInMemory = 0.01;  // of files whose pages the kernel was asked to drop
const std::vector<std::string_view> kToTrain = {"train"}, kToEvaluate = {"val", "test", "eval"};

/// What token files and click logs end in. Of a log in several arrays the dense features stand for
/// all (workloads/dlrm_data.h).
std::vector<std::string> endings_of(const std::string& workload) {
  if (workload == "llm") return {".bin"};
  return {".npz", "_dense.npy", ".txt", ".tsv"};
}

Files named(const Files& files, const std::vector<std::string_view>& words) {
  Files found;
  for (const auto& file : files) {
    const std::string name = file.filename().string();
    // The multi-hot ids of a log in several arrays, beside its dense features.
    if (name.ends_with("_sparse_multi_hot.npz")) continue;
    if (std::ranges::any_of(
            words, [&](std::string_view word) { return name.find(word) != std::string::npos; }))
      found.push_back(file);
  }
  return found;
}

/// Where `path` is a folder, its files that have one of the words in their names.
Files files_at(const std::filesystem::path& path, const std::vector<std::string>& endings,
               const std::vector<std::string_view>& words) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  return named(data::files_ending(path, endings), words);
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

}  // namespace

training::DataChoice training_data(const State& state) {
  training::DataChoice choice;
  choice.vocabulary = static_cast<int>(state.integer("vocabulary"));
  choice.table_rows = state.integer("table_rows");
  choice.samples = static_cast<std::uint64_t>(state.integer("samples"));
  const std::string train = state.text("data"), evaluation = state.text("evaluation_data");
  if (train.empty() && !evaluation.empty())
    throw Error(ErrorKind::input,
                "evaluation_data names " + printable(evaluation) + ", and data nothing",
                "name what to train on with the parameter data");
  if (train.empty()) return choice;
  const auto endings = endings_of(state.text("workload"));
  choice.train = files_at(train, endings, kToTrain);
  if (choice.train.empty())
    throw Error(ErrorKind::input,
                fmt::format("{}: no file ending in {} has 'train' in its name", printable(train),
                            join(endings, " or ")),
                "name a file with the parameter data, or rename those of the folder");
  if (!evaluation.empty())
    choice.evaluation = files_at(evaluation, endings, kToEvaluate);
  else if (is_folder(train))
    choice.evaluation = files_at(train, endings, kToEvaluate);
  return choice;
}

Json clear_cache(const training::DataChoice& data) {
  if (!data.from_files())
    return {{"cleared", true}, {"reason", "samples are generated: no cache could hold them"}};
  Files files = data.train;
  files.insert(files.end(), data.evaluation.begin(), data.evaluation.end());
  data::evict(files);
  const double share = data::residence(files).share();
  const bool cleared = share <= kLeftInMemory;
  return {{"cleared", cleared},
          {"reason", cleared ? "the kernel dropped the files' pages"
                             : "the kernel kept pages of the files in memory"},
          {"resident_share", share}};
}

}  // namespace bench
