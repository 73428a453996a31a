#include "probes/training/checkpoint/checkpoint_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"

namespace bench::training {
namespace {

namespace fs = std::filesystem;

struct FileName {
  std::int64_t step = 0;
  int rank = 0;
  int ranks = 0;
};

std::string text_of(const FileName& name) {
  return fmt::format("step-{:012}.rank-{}-of-{}.ckpt", name.step, name.rank, name.ranks);
}

/// Reads `word` and a number off the front of a text.
template <class Number>
bool take(std::string_view& text, std::string_view word, Number& number) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return true;
}

/// For a file name of this format; other files in the folder are ignored.
std::optional<FileName> name_from(const std::string& text) {
  FileName name;
  std::string_view rest = text;
  if (!take(rest, "step-", name.step) || !take(rest, ".rank-", name.rank) ||
      !take(rest, "-of-", name.ranks) || text_of(name) != text)
    return {};
  return name;
}

std::vector<FileName> names_in(const fs::path& folder) {
  std::vector<FileName> names;
  std::error_code failed;
  fs::directory_iterator entries(folder, failed);
  for (; !failed && entries != fs::directory_iterator(); entries.increment(failed))
    if (const auto name = name_from(entries->path().filename().string())) names.push_back(*name);
  if (failed)
    throw Error(ErrorKind::environment,
                "cannot list " + folder.string() + ": " + failed.message());
  return names;
}

/// The name of an unfinished file, if `text` is one.
std::optional<FileName> unfinished_from(std::string text) {
  const std::string_view end = AtomicFile::kUnfinished;
  if (!text.ends_with(end)) return {};
  text.resize(text.size() - end.size());
  return name_from(text);
}

std::string listed(const std::vector<std::int64_t>& steps) {
  std::string text;
  for (const std::int64_t step : steps) text += fmt::format("{},", step);
  return text;
}

std::vector<std::int64_t> from_list(std::string_view text) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 0; take(text, "", step); text.remove_prefix(1)) steps.push_back(step);
  return steps;
}

}  // namespace

CheckpointFolder::CheckpointFolder(fs::path folder, int rank, int ranks)
    : folder_(std::move(folder)), rank_(rank), ranks_(ranks) {
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed)
    throw Error(ErrorKind::environment,
                "cannot create the folder " + folder_.string() + ": " + failed.message(),
                "choose another checkpoint folder");
}

fs::path CheckpointFolder::file(std::int64_t step) const {
  return folder_ / text_of({step, rank_, ranks_});
}

std::vector<std::int64_t> CheckpointFolder::steps() const {
  std::set<std::int64_t> steps;
  for (const FileName& name : names_in(folder_))
    if (name.rank == rank_ && name.ranks == ranks_) steps.insert(name.step);
  return {steps.begin(), steps.end()};
}

std::vector<std::int64_t> CheckpointFolder::common_steps(Group& group) const {
  std::map<std::int64_t, std::size_t> seen;
  const auto ranks = group.gather(listed(steps()));
  for (const std::string& rank : ranks)
    for (const std::int64_t step : from_list(rank)) ++seen[step];
  std::vector<std::int64_t> common;
  for (const auto& [step, count] : seen)
    if (count == ranks.size()) common.push_back(step);
  return from_list(broadcast_text(group, listed(common)));
}

void CheckpointFolder::prune(std::int64_t newest, int keep, const FileObserver& observer) const {
  std::vector<std::int64_t> gone, kept;
  for (const std::int64_t step : steps()) (step > newest ? gone : kept).push_back(step);
  const auto old = std::max<std::ptrdiff_t>(0, std::ssize(kept) - keep);
  gone.insert(gone.end(), kept.begin(), kept.begin() + old);
  std::vector<fs::path> files;
  for (const std::int64_t step : gone) files.push_back(file(step));
  std::error_code ignored;  // files that cannot be removed only take space
  for (const auto& entry : fs::directory_iterator(folder_, ignored))
    if (const auto name = unfinished_from(entry.path().filename().string());
        name && name->rank == rank_ && name->ranks == ranks_)
      files.push_back(entry.path());
  for (const fs::path& one : files) {
    if (observer) observer("remove");
    fs::remove(one, ignored);
  }
}

std::vector<int> CheckpointFolder::other_sizes() const {
  std::set<int> sizes;
  for (const FileName& name : names_in(folder_))
    if (name.ranks != ranks_) sizes.insert(name.ranks);
  return {sizes.begin(), sizes.end()};
}

}  // namespace bench::training
