#include "probes/storage/checkpoint_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/error.h"
#include "core/text.h"

namespace bench::storage {
namespace {

constexpr std::string_view kStepPrefix = "step-";

std::optional<std::int64_t> step_from(const std::string& name) {
  if (!name.starts_with(kStepPrefix)) return {};
  const std::string_view digits = std::string_view(name).substr(kStepPrefix.size());
  std::int64_t step = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (failure != std::errc() || end != digits.data() + digits.size() || step < 0) return {};
  return step;
}

}  // namespace

std::string shard_name(int rank) { return fmt::format("rank-{:05}.shard", rank); }

std::filesystem::path CheckpointStore::folder(std::int64_t step) const {
  return base_ / fmt::format("{}{:012}", kStepPrefix, step);
}

std::filesystem::path CheckpointStore::make_folder(std::int64_t step) const {
  std::error_code failure;
  std::filesystem::create_directories(folder(step), failure);
  if (failure)
    throw Error(ErrorKind::environment,
                "create the folder " + folder(step).string() + ": " + failure.message(),
                "set 'path' to another folder");
  sync_folder(base_);
  return folder(step);
}

std::vector<std::int64_t> CheckpointStore::steps() const {
  std::vector<std::int64_t> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(base_, ignored))
    if (const auto step = step_from(entry.path().filename().string()); step && entry.is_directory())
      found.push_back(*step);
  std::ranges::sort(found);
  return found;
}

std::optional<CheckpointStore::Found> CheckpointStore::newest_whole() const {
  const std::vector<std::int64_t> all = steps();
  Found found;
  for (auto step = all.rbegin(); step != all.rend(); ++step) {
    try {
      found.manifest = read_manifest(folder(*step));
      found.step = *step;
      const std::string missing = missing_shard(folder(*step), found.manifest);
      if (missing.empty()) return found;
      found.passed_over.push_back(missing);
    } catch (const Error& error) {
      found.passed_over.push_back(error.what());
    }
  }
  return {};
}

void CheckpointStore::prune(std::int64_t newest, int keep, const FileObserver& observer) const {
  std::vector<std::int64_t> all = steps();
  const auto kept = std::ranges::count_if(all, [&](std::int64_t step) { return step <= newest; });
  auto surplus = std::max<std::int64_t>(0, kept - keep);
  for (const std::int64_t step : all) {
    if (step <= newest && surplus-- <= 0) continue;
    remove(step, observer);
  }
}

void CheckpointStore::remove(std::int64_t step, const FileObserver& observer) const {
  std::error_code ignored;
  if (observer) observer("remove manifest");
  std::filesystem::remove(folder(step) / kManifestName, ignored);
  if (observer) observer("remove shards");
  std::filesystem::remove_all(folder(step), ignored);
}

std::string missing_shard(const std::filesystem::path& folder, const Manifest& manifest) {
  for (const ShardEntry& shard : manifest.shards) {
    std::error_code failure;
    const auto bytes = std::filesystem::file_size(folder / shard.file, failure);
    if (failure) return (folder / shard.file).string() + ": " + failure.message();
    if (bytes != shard.bytes)
      return fmt::format("{} has {} bytes, the manifest says {}", (folder / shard.file).string(),
                         bytes, shard.bytes);
  }
  return "";
}

}  // namespace bench::storage
