// Checkpoints by several ranks, and what befalls them: each fault is found on reading back, and
// named.
#include <fstream>

#include "core/error.h"
#include "probes/storage/checkpoint_round.h"
#include "tests/probes/storage/disk_folder.h"
#include "tests/probes/storage/newest_whole.h"
#include "tests/support/catch.h"
#include "tests/support/thread_group.h"

namespace bench::storage {
namespace {

using Catch::Matchers::Contains;

constexpr int kRanks = 3;
constexpr std::uint64_t kShardBytes = 5 * kDirectAlignment;

CheckpointSetting setting(bool shared = true) {
  CheckpointSetting made;
  made.bytes = kShardBytes;
  made.chunk_bytes = 2 * kDirectAlignment;
  made.threads = 2;
  made.access = Access::buffered;
  made.shared = shared;
  return made;
}

ChunkSource source(SyntheticState& state) { return state.source(); }

/// All ranks write a checkpoint as this step; the result of rank 0.
WrittenCheckpoint write_step(const CheckpointStore& store, std::int64_t step) {
  WrittenCheckpoint result;
  run_ranks(kRanks, [&](Group& group) {
    SyntheticState state(kShardBytes, setting().chunk_bytes, 2, 10 + group.rank());
    const auto written = write_checkpoint(group, store, step, setting(), source(state));
    if (group.rank() == 0) result = written;
  });
  return result;
}

ReadCheckpoint read_step(const CheckpointStore& store, std::int64_t step) {
  ReadCheckpoint result;
  run_ranks(kRanks, [&](Group& group) {
    const auto read = read_checkpoint(group, store, step, setting());
    if (group.rank() == 0) result = read;
  });
  return result;
}

void flip_byte(const std::filesystem::path& path, std::streamoff at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const char old = static_cast<char>(file.get());
  file.seekp(at);
  file.put(static_cast<char>(old ^ 1));
  REQUIRE(file.good());
}

}  // namespace

TEST_CASE("a checkpoint of three ranks is complete and read back correctly by other ranks") {
  DiskFolder folder;
  const CheckpointStore store(folder.path());
  const WrittenCheckpoint written = write_step(store, 7);
  CHECK(written.bytes == kRanks * kShardBytes);
  CHECK(written.duration.value > 0.0);
  CHECK(written.slowest_rank > 0.0);
  REQUIRE(written.progress.size() == 3);
  CHECK(written.progress.back().bytes == kShardBytes);
  const ReadCheckpoint read = read_step(store, 7);
  CHECK(read.bytes == kRanks * kShardBytes);
  CHECK(read.wrong == 0);
  CHECK(read.faults.empty());
  const auto found = newest_whole(store);
  REQUIRE(found);
  CHECK(found->step == 7);
  CHECK(found->manifest.shards.size() == kRanks);
}

TEST_CASE("a flipped byte in a shard is found on reading back, with its chunk") {
  DiskFolder folder;
  const CheckpointStore store(folder.path());
  write_step(store, 0);
  const std::streamoff at = GENERATE(0, 8192, static_cast<std::streamoff>(kShardBytes) - 1);
  flip_byte(store.folder(0) / shard_name(1), at);
  const ReadCheckpoint read = read_step(store, 0);
  CHECK(read.wrong == 1);
  REQUIRE(read.faults.size() == 1);
  CHECK_THAT(read.faults[0],
             Contains("rank-00001.shard: chunk " + std::to_string(at / 8192) + " "));
}

TEST_CASE("a missing or short shard is found, and the previous checkpoint is used") {
  DiskFolder folder;
  const CheckpointStore store(folder.path());
  write_step(store, 0);
  write_step(store, 1);
  const std::filesystem::path shard = store.folder(1) / shard_name(2);
  std::string expected;
  std::int64_t wrong = 0;
  SECTION("missing") {
    std::filesystem::remove(shard);
    expected = "No such file";
    wrong = 3;
  }
  SECTION("short") {
    std::filesystem::resize_file(shard, kDirectAlignment);
    expected = "the manifest says 20480";
    wrong = 3;
  }
  const ReadCheckpoint read = read_step(store, 1);
  CHECK(read.wrong == wrong);
  REQUIRE_FALSE(read.faults.empty());
  CHECK_THAT(read.faults[0], Contains(expected));
  const auto found = newest_whole(store);
  REQUIRE(found);
  CHECK(found->step == 0);
  REQUIRE(found->passed_over.size() == 1);
  CHECK_THAT(found->passed_over[0], Contains("rank-00002.shard"));
}

TEST_CASE("a manifest truncated at any byte, or with any byte flipped, is refused") {
  DiskFolder folder;
  const CheckpointStore store(folder.path());
  write_step(store, 0);
  write_step(store, 1);
  const std::filesystem::path path = store.folder(1) / kManifestName;
  const std::string whole = read_file(path);
  REQUIRE(parse_manifest(whole, "m").step == 1);
  for (std::size_t length = 0; length + 1 < whole.size();
       ++length)  // without its line end it is whole
    CHECK_THROWS_AS(parse_manifest(whole.substr(0, length), "m"), Error);
  for (std::size_t at = 0; at + 1 < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    CHECK_THROWS_AS(parse_manifest(damaged, "m"), Error);
  }
  std::ofstream(path) << whole.substr(0, whole.size() / 2);
  CHECK_THROWS_WITH(read_step(store, 1), Contains(path.string()));
  const auto found = newest_whole(store);
  REQUIRE(found);
  CHECK(found->step == 0);
}

TEST_CASE("a manifest cannot lead outside of its folder or make a reader take much memory") {
  Manifest manifest{1, 4096, {{"rank-00000.shard", 4096, {1}}}};
  CHECK(parse_manifest(manifest_text(manifest), "m").shards[0].checksums[0] == 1);
  for (const char* name : {"../x", "/etc/passwd", "", ".hidden", "a/b", "a\nb"}) {
    manifest.shards[0].file = name;
    CHECK_THROWS_WITH(parse_manifest(manifest_text(manifest), "m"),
                      Contains("is not a valid shard name"));
  }
  manifest.shards[0].file = "rank-00000.shard";
  manifest.chunk_bytes = std::uint64_t{1} << 40;
  CHECK_THROWS_AS(parse_manifest(manifest_text(manifest), "m"), Error);
  manifest.chunk_bytes = 1024;
  CHECK_THROWS_WITH(parse_manifest(manifest_text(manifest), "m"), Contains("4 chunks"));
  manifest.chunk_bytes = 4096;
  manifest.shards.push_back(manifest.shards[0]);
  CHECK_THROWS_WITH(parse_manifest(manifest_text(manifest), "m"), Contains("twice"));
  manifest.shards.clear();
  CHECK_THROWS_WITH(parse_manifest(manifest_text(manifest), "m"), Contains("has no shards"));
}

TEST_CASE("ranks that share no folder have a manifest and a shard each and read their own") {
  DiskFolder folder;
  std::vector<ReadCheckpoint> reads(2);
  run_ranks(2, [&](Group& group) {
    const CheckpointStore store(folder.path() / std::to_string(group.rank()));
    SyntheticState state(kShardBytes, setting().chunk_bytes, 2, 1);
    write_checkpoint(group, store, 0, setting(false), source(state));
    reads[static_cast<std::size_t>(group.rank())] =
        read_checkpoint(group, store, 0, setting(false));
  });
  CHECK(reads[0].wrong == 0);
  CHECK(reads[0].bytes == 2 * kShardBytes);
  CHECK(newest_whole(CheckpointStore(folder.path() / "1"))->manifest.shards.size() == 1);
}

TEST_CASE(
    "a rank that cannot write fails the checkpoint of all ranks with its reason, leaving nothing") {
  DiskFolder folder;
  const CheckpointStore store(folder.path());
  std::vector<std::string> reasons(kRanks);
  run_ranks(kRanks, [&](Group& group) {
    SyntheticState state(kShardBytes, setting().chunk_bytes, 2, 1);
    CheckpointSetting failing = setting();
    if (group.rank() == 1)
      failing.observer = [](const std::string& operation) {
        if (operation == "sync") throw Error(ErrorKind::environment, "the disk of rank 1 is full");
      };
    try {
      write_checkpoint(group, store, 0, failing, source(state));
    } catch (const Error& error) {
      reasons[static_cast<std::size_t>(group.rank())] = error.what();
    }
  });
  for (const std::string& reason : reasons) CHECK_THAT(reason, Contains("rank 1 is full"));
  CHECK_FALSE(newest_whole(store));
  CHECK_FALSE(std::filesystem::exists(store.folder(0) / shard_name(1)));
  CHECK_FALSE(std::filesystem::exists(store.folder(0) / (shard_name(1) + kUnfinished)));
}

TEST_CASE("old and abandoned checkpoints are removed, the newest are kept") {
  DiskFolder folder;
  const CheckpointStore store(folder.path());
  for (const std::int64_t step : {1, 2, 3, 9}) write_step(store, step);
  store.prune(3, 2);
  CHECK(store.steps() == std::vector<std::int64_t>{2, 3});
  store.prune(-1, 0);
  CHECK(store.steps().empty());
}

TEST_CASE("a shared folder is distinguished from folders of single ranks") {
  DiskFolder folder;
  std::vector<int> shared(2), own(2);
  run_ranks(2, [&](Group& group) {
    const auto rank = static_cast<std::size_t>(group.rank());
    const std::filesystem::path mine = folder.path() / std::to_string(rank);
    std::filesystem::create_directory(mine);
    shared[rank] = folder_is_shared(group, folder.path()) ? 1 : 0;
    own[rank] = folder_is_shared(group, mine) ? 1 : 0;
  });
  CHECK(shared == std::vector<int>{1, 1});
  CHECK(own == std::vector<int>{0, 0});
}

}  // namespace bench::storage
