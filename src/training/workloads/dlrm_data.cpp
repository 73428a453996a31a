#include "training/workloads/dlrm_data.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/error.h"
#include "core/text.h"
#include "training/sources/click_arrays.h"
#include "training/sources/criteo.h"
#include "training/sources/finite.h"

namespace bench::training {
namespace {

/// Rows per table if neither files nor preset state them: small enough for two cores.
constexpr std::int64_t kRowsOfText = 100'000;
constexpr std::string_view kDenseArray = "_dense.npy", kArchive = ".npz";

const std::filesystem::path& one_file(const std::vector<std::filesystem::path>& files,
                                      const char* purpose) {
  if (files.size() == 1) return files.front();
  throw Error(ErrorKind::input,
              fmt::format("found {} files to {}, but dlrm reads one: {}, {}", files.size(), purpose,
                          printable(files[0].string()), printable(files[1].string())),
              "name one file or concatenate them");
}

/// The other arrays of the same log, in the folder of its dense features.
ClickArrayPaths sibling_arrays(const std::string& dense) {
  const std::string stem = dense.substr(0, dense.size() - kDenseArray.size());
  const std::string multi_hot = stem + "_sparse_multi_hot.npz";
  std::error_code error;
  return {.npz = {},
          .dense = dense,
          .ids = std::filesystem::exists(multi_hot, error) ? multi_hot : stem + "_sparse.npy",
          .labels = stem + "_labels.npy"};
}

ClickArrayPaths arrays_of(const std::string& path) {
  if (path.ends_with(kDenseArray)) return sibling_arrays(path);
  return {.npz = path, .dense = {}, .ids = {}, .labels = {}};
}

/// Table rows known before opening a file.
std::vector<std::int64_t> rows_of(const ClickModelOptions& preset, const DataChoice& choice) {
  if (choice.table_rows == 0 && preset.shape.rows.size() == kCriteoWords) return preset.shape.rows;
  return std::vector<std::int64_t>(kCriteoWords,
                                   choice.table_rows > 0 ? choice.table_rows : kRowsOfText);
}

std::unique_ptr<ClickSource> click_files(const ClickModelOptions& preset,
                                         const DataChoice& choice) {
  const std::string train = one_file(choice.train, "train on");
  const std::string evaluation =
      choice.evaluation.empty() ? "" : one_file(choice.evaluation, "evaluate on").string();
  const bool archive = train.ends_with(kArchive);
  if (!archive && !train.ends_with(kDenseArray))
    return std::make_unique<CriteoFiles>(train, evaluation, rows_of(preset, choice));
  std::optional<ClickArrayPaths> evaluation_paths;
  if (!evaluation.empty()) evaluation_paths = arrays_of(evaluation);
  const bool has_counts = archive && choice.table_rows == 0;  // "counts", in the archive
  return std::make_unique<ClickArrayFiles>(
      arrays_of(train), evaluation_paths,
      has_counts ? std::vector<std::int64_t>{} : rows_of(preset, choice));
}

std::unique_ptr<ClickSource> law(ClickModelOptions clicks, std::uint64_t seed) {
  clicks.seed = seed;
  return std::make_unique<ClickModel>(clicks);
}

}  // namespace

std::vector<std::filesystem::path> files_of_log(const std::filesystem::path& file) {
  if (!file.string().ends_with(kDenseArray)) return {file};
  const ClickArrayPaths arrays = sibling_arrays(file.string());
  return {arrays.dense, arrays.ids, arrays.labels};
}

DlrmData open_dlrm_data(const ClickModelOptions& preset, std::uint64_t seed,
                        const DataChoice& choice) {
  if (choice.vocabulary > 0)
    throw Error(ErrorKind::input, "workload dlrm has no tokens for vocabulary",
                "remove the parameter vocabulary");
  if (choice.table_rows > 0 && !choice.from_files())
    throw Error(ErrorKind::input,
                "table_rows applies only to click log files, not to generated data",
                "set the parameter data to a file, or remove table_rows");
  return DlrmData::in_order<FiniteClicks>(
      choice.from_files() ? click_files(preset, choice) : law(preset, seed), choice, seed);
}

}  // namespace bench::training
