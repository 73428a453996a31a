#include "probes/training/training_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "probes/data/formats/folder_listing.h"
#include "probes/data/formats/page_cache.h"
#include "probes/training/picture_shards.h"
#include "probes/training/training_base.h"
#include "training/workloads/dlrm_data.h"

namespace bench {
namespace {

using Files = std::vector<std::filesystem::path>;

constexpr double kMaxResidentShare = 0.01;  // of files whose pages the kernel was asked to drop

/// File name endings of token files, shards of pictures and click logs. Of a log in several arrays,
/// the dense features represent all (workloads/dlrm_data.h).
std::vector<std::string> endings_of(const std::string& workload) {
  if (workload == "llm") return {".bin"};
  if (workload == "image") return {".tar"};
  return {".npz", "_dense.npy", ".txt", ".tsv"};
}

bool name_contains(const std::filesystem::path& file, std::string_view word) {
  return file.filename().string().find(word) != std::string::npos;
}

bool is_training_file(const std::filesystem::path& file) { return name_contains(file, "train"); }

/// "latest_train.bin" is none.
bool is_evaluation_file(const std::filesystem::path& file) {
  return !is_training_file(file) && (name_contains(file, "val") || name_contains(file, "test"));
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

/// The matching files if `path` is a folder, else `path` itself.
Files files_at(const std::string& path, const std::vector<std::string>& endings,
               bool (*wanted)(const std::filesystem::path&)) {
  if (!is_folder(path)) return {path};
  Files files = data::files_ending(path, endings);
  std::erase_if(files, [&](const std::filesystem::path& file) {
    // IDs of a log in several arrays: its dense features represent the log.
    return !wanted(file) || name_contains(file, "_sparse_multi_hot");
  });
  return files;
}

}  // namespace

training::DataChoice training_data(const State& state) {
  training::DataChoice choice;
  choice.vocabulary = static_cast<int>(state.integer("vocabulary"));
  choice.table_rows = state.integer("table_rows");
  choice.samples = static_cast<std::uint64_t>(state.integer("samples"));
  choice.cache = base_cache(state);
  const std::string train = state.text("data"), evaluation = state.text("evaluation_data");
  if (train.empty() && !evaluation.empty())
    throw Error(ErrorKind::input,
                "evaluation_data is " + printable(evaluation) + ", but data is not set",
                "set the parameter data to the training data");
  if (train.empty()) return choice;
  choice.open_pictures = open_picture_shards;
  const auto endings = endings_of(state.text("workload"));
  choice.train = files_at(train, endings, is_training_file);
  if (choice.train.empty())
    throw Error(ErrorKind::input,
                fmt::format("{}: no file ending in {} has 'train' in its name", printable(train),
                            join(endings, " or ")),
                "set the parameter data to a file, or rename the files in the folder");
  if (!evaluation.empty())
    choice.evaluation = files_at(evaluation, endings, is_evaluation_file);
  else if (is_folder(train))
    choice.evaluation = files_at(train, endings, is_evaluation_file);
  return choice;
}

Json clear_cache(const std::string& workload, const training::DataChoice& data, Group& group) {
  if (workload == "rgat")
    return {{"cleared", false},
            {"reason", "the features are in a file that initialization writes or verifies"}};
  if (!data.from_files())
    return {{"cleared", true}, {"reason", "samples are generated, so there is no cache to clear"}};
  Files files;
  for (const auto* named : {&data.train, &data.evaluation})
    for (const auto& file : *named)
      for (auto& part : training::files_of_log(file)) files.push_back(std::move(part));
  data::evict(files);
  const double share = data::residence(files).share();
  group.barrier();  // before any rank opens them
  const bool cleared = share <= kMaxResidentShare;
  return {{"cleared", cleared},
          {"reason", cleared ? "the kernel dropped the files from the page cache"
                             : "the kernel kept the files in the page cache"},
          {"resident_share", share}};
}

}  // namespace bench
