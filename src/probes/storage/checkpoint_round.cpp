#include "probes/storage/checkpoint_round.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <span>

#include "core/error.h"
#include "core/text.h"
#include "probes/host_clock.h"
#include "probes/storage/page_cache.h"
#include "probes/storage/shard_reader.h"

namespace bench::storage {
namespace {

double largest(Group& group, double value) {
  group.max(std::span(&value, 1));
  return value;
}

double least(Group& group, double value) { return -largest(group, -value); }

double total(Group& group, double value) {
  group.sum(std::span(&value, 1));
  return value;
}

/// Which shard this rank reads, and where its entry stands.
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
  for (const std::string& text : group.gather(dump(own)))
    for (const Json& one : parse_json(text, "faults of a rank")) all.push_back(one);
  return all;
}

}  // namespace

void together(Group& group, const std::function<void()>& work) {
  std::string reason;
  try {
    work();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  reason = agreed(group, reason);
  if (!reason.empty()) throw Error(ErrorKind::environment, reason);
}

bool folder_is_shared(Group& group, const std::filesystem::path& folder) {
  const std::string name = broadcast_text(group, fmt::format("shared-{}-{}", ::getpid(), now_ns()));
  const std::filesystem::path mark = folder / name;
  together(group, [&] {
    if (group.rank() == 0 && !std::ofstream(mark)) throw_errno("make " + mark.string());
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
    for (const std::string& text : group.gather(dump(to_json(own))))
      manifest.shards.push_back(
          shard_entry_from(parse_json(text, "shard of a rank"), setting.chunk_bytes, "shard"));
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
