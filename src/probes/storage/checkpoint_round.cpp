#include "probes/storage/checkpoint_round.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/page_cache.h"
#include "core/text.h"
#include "core/time.h"
#include "devices/host_clock.h"
#include "probes/storage/aligned_buffer.h"
#include "probes/storage/crc32c.h"
#include "probes/storage/random_blocks.h"
#include "probes/storage/storage_file.h"

namespace bench::storage {
namespace {

constexpr std::string_view kStepPrefix = "step-";

std::optional<std::int64_t> step_from(const std::string& name) {
  if (!name.starts_with(kStepPrefix)) return {};
  const auto step = parse_as<std::int64_t>(std::string_view(name).substr(kStepPrefix.size()));
  return step && *step >= 0 ? step : std::nullopt;
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

namespace {

constexpr std::size_t kMostFaults = 20;

class ShardReading {
 public:
  explicit ShardReading(const ReadRequest& request) : request_(request) {}

  ReadShard run() {
    const Seconds begin = steady_now();
    try {
      file_.emplace(request_.folder / request_.shard.file, request_.access, OpenFor::reading);
      const std::uint64_t bytes = file_->bytes();
      if (bytes != request_.shard.bytes)
        add_fault(fmt::format("{} has {} bytes, the manifest says {}", name(), bytes,
                              request_.shard.bytes),
                  bytes > request_.shard.bytes ? 1 : 0);
      std::vector<std::jthread> threads;
      for (int thread = 1; thread < request_.threads; ++thread)
        threads.emplace_back([this] { read_chunks(); });
      read_chunks();
    } catch (const Error& error) {
      add_fault(error.what(), static_cast<std::int64_t>(request_.shard.checksums.size()));
    }
    result_.wall = steady_now() - begin;
    return std::move(result_);
  }

 private:
  std::string name() const { return (request_.folder / request_.shard.file).string(); }

  void add_fault(const std::string& text, std::int64_t chunks) {
    const std::lock_guard lock(mutex_);
    result_.wrong += chunks;
    if (result_.faults.size() < kMostFaults) result_.faults.push_back(text);
  }

  void read_chunks() {
    AlignedBuffer buffer(std::min(request_.chunk_bytes, request_.shard.bytes));
    const auto chunks = static_cast<std::int64_t>(request_.shard.checksums.size());
    for (std::int64_t chunk = next_++; chunk < chunks; chunk = next_++) {
      const auto into =
          buffer.all().first(bytes_of_chunk(request_.shard.bytes, request_.chunk_bytes, chunk));
      try {
        read_chunk(chunk, into);
      } catch (const Error& error) {
        add_fault(error.what(), 1);
      }
    }
  }

  void read_chunk(std::int64_t chunk, std::span<std::byte> into) {
    const std::uint64_t offset = static_cast<std::uint64_t>(chunk) * request_.chunk_bytes;
    file_->read(into, offset);
    const std::uint32_t found = crc32c(into);
    const std::uint32_t expected = request_.shard.checksums[static_cast<std::size_t>(chunk)];
    if (found != expected)
      add_fault(fmt::format("{}: chunk {} (bytes {} to {}) has checksum {:08x}, the manifest "
                            "says {:08x}",
                            name(), chunk, offset, offset + into.size() - 1, found, expected),
                1);
    const std::lock_guard lock(mutex_);
    result_.bytes += static_cast<double>(into.size());
  }

  const ReadRequest& request_;
  std::optional<StorageFile> file_ = {};
  std::atomic<std::int64_t> next_ = 0;
  std::mutex mutex_ = {};
  ReadShard result_ = {};
};

}  // namespace

ReadShard read_shard(const ReadRequest& request) { return ShardReading(request).run(); }

namespace {

/// The shard that this rank reads.
const ShardEntry& shard_for(const Manifest& manifest, Group& group, bool shared) {
  const auto next = static_cast<std::size_t>(shared ? (group.rank() + 1) % group.size() : 0);
  if (next >= manifest.shards.size())
    throw Error(ErrorKind::environment,
                fmt::format("the manifest has {} shards, but {} ranks wrote",
                            manifest.shards.size(), group.size()));
  return manifest.shards[next];
}

std::vector<std::string> gathered(Group& group, const std::vector<std::string>& own) {
  std::vector<std::string> all;
  for (const Json& faults : gather_json(group, own))
    for (const Json& one : faults) all.push_back(one);
  return all;
}

}  // namespace

bool folder_is_shared(Group& group, const std::filesystem::path& folder) {
  const std::string name = broadcast_text(group, fmt::format("shared-{}-{}", ::getpid(), now_ns()));
  const std::filesystem::path mark = folder / name;
  together(group, [&] {
    if (group.rank() != 0) return;
    const Descriptor file(::open(mark.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file.valid()) throw_errno("make " + mark.string());
  });
  std::error_code ignored;
  const bool seen = std::filesystem::exists(mark, ignored);
  const bool all = largest(group, seen ? 0.0 : 1.0) == 0.0;
  if (group.rank() == 0) std::filesystem::remove(mark, ignored);
  return all;
}

ShardRequest shard_request(const CheckpointStore& store, std::int64_t step, int rank,
                           const CheckpointSetting& setting, ChunkSource source) {
  return {.file = store.folder(step) / shard_name(rank),
          .bytes = setting.bytes,
          .chunk_bytes = setting.chunk_bytes,
          .threads = setting.threads,
          .access = setting.access,
          .source = std::move(source),
          .observer = setting.observer};
}

void commit_checkpoint(Group& group, const CheckpointStore& store, std::int64_t step,
                       const CheckpointSetting& setting, const WrittenShard& shard) {
  const ShardEntry own{shard_name(group.rank()), shard.bytes, shard.checksums};
  Manifest manifest{step, setting.chunk_bytes, {}};
  if (setting.shared)
    for (const Json& one : gather_json(group, to_json(own)))
      manifest.shards.push_back(shard_entry_from(one, setting.chunk_bytes, "shard of a rank"));
  else
    manifest.shards.push_back(own);
  together(group, [&] {
    if (!setting.shared || group.rank() == 0)
      commit_manifest(store.folder(step), manifest, setting.observer);
  });
}

WrittenCheckpoint write_checkpoint(Group& group, const CheckpointStore& store, std::int64_t step,
                                   const CheckpointSetting& setting, const ChunkSource& source) {
  together(group, [&] { store.make_folder(step); });
  const ShardRequest request = shard_request(store, step, group.rank(), setting, source);
  WrittenShard shard;
  group.barrier();
  const Seconds begin = steady_now();
  together(group, [&] { shard = write_shard(request); });
  commit_checkpoint(group, store, step, setting, shard);
  const double duration = (steady_now() - begin).value;
  const auto bytes = static_cast<double>(setting.bytes);
  return {Seconds{largest(group, duration)}, total(group, bytes),
          least(group, bytes / shard.durable.value), std::move(shard.progress)};
}

ReadCheckpoint read_checkpoint(Group& group, const CheckpointStore& store, std::int64_t step,
                               const CheckpointSetting& setting) {
  ReadRequest request{.folder = store.folder(step),
                      .shard = {},
                      .chunk_bytes = setting.chunk_bytes,
                      .threads = setting.threads,
                      .access = setting.access};
  ReadCheckpoint result;
  double resident = 0.0;
  together(group, [&] {
    const Manifest manifest = read_manifest(request.folder);
    request.shard = shard_for(manifest, group, setting.shared);
    request.chunk_bytes = manifest.chunk_bytes;
    std::error_code missing;
    if (std::filesystem::exists(request.folder / request.shard.file, missing))
      resident = evict(request.folder / request.shard.file);
  });
  group.barrier();
  const ReadShard shard = read_shard(request);
  result.duration = {largest(group, shard.wall.value)};
  result.bytes = total(group, shard.bytes);
  result.slowest_rank = least(group, shard.bytes / shard.wall.value);
  result.wrong = static_cast<std::int64_t>(total(group, static_cast<double>(shard.wrong)));
  result.faults = gathered(group, shard.faults);
  result.resident = largest(group, resident);
  return result;
}

}  // namespace bench::storage
