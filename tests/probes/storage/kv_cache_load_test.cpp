// A KV cache under load, on this machine's disk: what is counted, and what is found wrong.
#include "probes/storage/kv_cache_load.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>

#include "core/error.h"
#include "tests/probes/storage/disk_folder.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"
#include "tests/support/thread_group.h"

namespace bench::storage {
namespace {

using Catch::Matchers::Contains;

struct SmallCache {
  DiskFolder folder;
  KvCacheRequest request;

  SmallCache() {
    request.folder = folder.path();
    request.access = Access::buffered;
    request.users = 3;
    request.bytes_per_token = 4096;
    request.scale = 0.004;  // up to 103 tokens
    request.operation_bytes = 65536;
    request.capacity_bytes = kv_least_capacity(request);
    request.duration = {0.3};
    request.slice = {0.03};
    request.seed = 11;
  }
  KvCacheResult run() { return KvCacheLoad(request).run(); }
};

Json small_cache(const DiskFolder& folder) {
  return {{"path", folder.path().string()},
          {"model", "gpt-oss-20b"},
          {"scale", 0.002},
          {"size_bytes", 64 << 20},
          {"users", {3}},
          {"seconds", 0.3},
          {"access", {"buffered"}},
          {"operation_bytes", 65536}};
}

bool was_skipped(const Samples& samples) { return samples.outcome == Status::skipped; }

struct MeasuredCache {
  std::unique_ptr<ProbeJob> job;
  Outcome outcome;
};

MeasuredCache run_cache(const Json& params, Group& group) {
  auto job = std::make_unique<ProbeJob>("kv_cache", params);
  Outcome outcome = job->run_on(job->device, group);
  return {std::move(job), std::move(outcome)};
}

/// A load that has ended entries in both directions: a disk that stalls ends none within a short
/// time, and then the load lasts longer. Where the kernel keeps pages of a busy disk for a moment,
/// a later one finds the cache cold.
MeasuredCache measured_cache(Json params, Group& group) {
  constexpr int kTries = 3;
  MeasuredCache cache = run_cache(params, group);
  params["seconds"] = 6.0;
  for (int tries = 1; tries < kTries; ++tries) {
    const bool skipped = std::ranges::any_of(cache.job->of("bandwidth"), was_skipped);
    if (largest(group, skipped ? 1.0 : 0.0) == 0.0) break;
    cache = run_cache(params, group);
  }
  return cache;
}

}  // namespace

TEST_CASE("a load of a KV cache counts whole entries and keeps within its capacity") {
  for (const KvMix mix : {KvMix::mlperf, KvMix::restore}) {
    SmallCache cache;  // a folder for each: entries of another load would count as this one's
    cache.request.mix = mix;
    const KvCacheResult result = cache.run();
    CHECK(result.read.wrong_blocks == 0);
    for (const LoadResult& side : {result.read, result.written}) {
      CHECK(side.operations > 0.0);
      CHECK(side.latency.count() == side.operations);
      CHECK(side.slice_bytes.size() == 10);
      CHECK(std::accumulate(side.slice_bytes.begin(), side.slice_bytes.end(), 0.0) ==
            Approx(side.bytes));
      CHECK(side.wall.value == cache.request.duration.value);
    }
    CHECK(result.requests > 0.0);
    CHECK(result.entries_found <= result.entries_sought);
    std::uint64_t stored = 0;
    for (const auto& file : std::filesystem::directory_iterator(cache.folder.path()))
      stored += file.file_size();
    CHECK(stored <= cache.request.capacity_bytes);
  }
}

TEST_CASE("conversations have earlier turns from the start") {
  SmallCache cache;
  cache.request.users = 30;
  cache.request.capacity_bytes = 20 * kv_least_capacity(cache.request);
  const KvCacheLoad load(cache.request);
  const auto files = std::distance(std::filesystem::directory_iterator(cache.folder.path()), {});
  CHECK(files > 30);  // four a user on average
  CHECK(files < 400);
}

TEST_CASE("a byte that differs in an entry is counted") {
  SmallCache cache;
  std::atomic<int> damaged = 0;
  cache.request.observer = [&](const std::filesystem::path& path) {
    if (damaged++ > 0) return;
    StorageFile file(path, Access::buffered, OpenFor::writing);
    const std::byte wrong{0x5a};
    file.write(std::span(&wrong, 1), 8);  // in the stamp of the first block
    file.sync();
  };
  CHECK(cache.run().read.wrong_blocks >= 1);
}

TEST_CASE("an entry that becomes shorter is an error that names it") {
  SmallCache cache;
  cache.request.observer = [&](const std::filesystem::path& path) {
    std::filesystem::resize_file(path, 4096);
  };
  CHECK_THROWS_WITH(cache.run(), Contains("user-") && Contains("too early"));
}

TEST_CASE("the probe kv_cache reports both directions of every mix and leaves no files") {
  DiskFolder folder;
  const auto group = make_self_group();
  const auto [job, outcome] = measured_cache(small_cache(folder), *group);
  INFO(outcome.reason);
  CHECK(outcome.status == Status::ok);
  std::set<std::string> seen;
  for (const Samples& samples : job->of("bandwidth")) {
    INFO(samples.reason);
    CHECK(samples.values.size() == 20);
    seen.insert(samples.params.at("mix").get<std::string>() + " " +
                samples.params.at("pattern").get<std::string>());
  }
  CHECK(seen == std::set<std::string>{"mlperf sequential_read", "mlperf sequential_write",
                                      "restore sequential_read", "restore sequential_write"});
  CHECK(job->of("entry_latency").size() == 4 * 4);
  CHECK(job->of("found_share").size() == 2);
  REQUIRE(job->of("wrong_blocks").size() == 2);
  for (const Samples& samples : job->of("wrong_blocks")) CHECK(samples.values.at(0) == 0.0);
  for (const Samples& tokens : job->of("token_rate"))
    for (const double value : tokens.values) CHECK(value >= 0.0);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a KV cache too small for its users is skipped, saying what it needs") {
  DiskFolder folder;
  Json params = small_cache(folder);
  params["users"] = {3, 1000};
  ProbeJob job("kv_cache", params);
  job.run();
  bool found = false;
  for (const Samples& samples : job.of("bandwidth"))
    if (samples.params.at("users") == 1000) {
      found = true;
      CHECK(was_skipped(samples));
      CHECK_THAT(samples.reason, Contains("1000 users") && Contains("size_bytes"));
    }
  CHECK(found);
}

TEST_CASE("ranks with users of their own report their sum") {
  DiskFolder folder;
  Json params = small_cache(folder);
  params["mixes"] = {"restore"};
  std::vector<Samples> measured;
  run_ranks(2, [&](Group& group) {
    const MeasuredCache cache = measured_cache(params, group);
    if (group.rank() == 0) measured = cache.job->of("bandwidth");
  });
  CHECK(measured.size() == 2);
  for (const Samples& samples : measured) {
    INFO(samples.reason);
    CHECK(samples.over == "sum");
  }
}

}  // namespace bench::storage
