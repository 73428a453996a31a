// The probes `storage` and `checkpoint` as jobs, on this machine's disk.
#include <set>

#include "probes/storage/checkpoint_series.h"
#include "tests/probes/storage/disk_folder.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"
#include "tests/support/thread_group.h"

namespace bench::storage {
namespace {

using Catch::Matchers::Contains;

Json facts_of(const CollectedRecords& sink, const std::string& topic) {
  for (const Record& record : sink.records)
    if (const auto* facts = std::get_if<Facts>(&record.body); facts && facts->topic == topic)
      return facts->facts;
  return nullptr;
}

Json small(const DiskFolder& folder) {
  return {{"path", folder.path().string()}, {"size_bytes", 4 << 20}, {"seconds", 0.1},
          {"random_block_bytes", {16384}},  {"depths", {1}},         {"metadata_files", 20},
          {"metadata_repeats", 2}};
}

Json small_checkpoint(const DiskFolder& folder) {
  return {{"path", folder.path().string()},
          {"model", "8b"},
          {"scale", 0.0003},
          {"chunk_bytes", 65536},
          {"repeats", 2},
          {"step_s", 0.002},
          {"async_steps", 5},
          {"async_checkpoints", 2}};
}

}  // namespace

TEST_CASE("the probe storage measures every requested pattern and leaves no files") {
  DiskFolder folder;
  ProbeJob job("storage", small(folder));
  const Outcome outcome = job.run();
  INFO(outcome.reason);
  CHECK((outcome.status == Status::ok || outcome.status == Status::skipped));
  std::set<std::string> patterns;
  for (const Samples& samples : job.of("bandwidth")) {
    if (samples.outcome == Status::skipped) continue;
    patterns.insert(samples.params.at("pattern").get<std::string>());
    for (const double value : samples.values) CHECK(value >= 0.0);
  }
  CHECK(patterns.size() == 5);
  CHECK(job.of("metadata_rate").size() == 4);
  for (const Samples& samples : job.of("metadata_rate")) CHECK(samples.values.size() == 2);
  REQUIRE_FALSE(job.of("wrong_blocks").empty());
  for (const Samples& samples : job.of("wrong_blocks")) CHECK(samples.values.at(0) == 0.0);
  const Json facts = facts_of(job.sink, "storage");
  CHECK(facts.at("file_system").at("type").is_string());
  CHECK(facts.at("pitfalls").size() == facts.at("warnings").size());
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("on a crowded machine no time of storage is clean, but what was read is judged") {
  DiskFolder folder;
  ProbeJob job("storage", small(folder));
  job.crowd();
  job.run();
  CHECK(job.clean_metrics() == std::set<std::string>{"resident_share", "wrong_blocks"});
  ProbeJob checkpoints("checkpoint", small_checkpoint(folder));
  checkpoints.crowd();
  checkpoints.run();
  CHECK_FALSE(checkpoints.of("write_time").empty());
  CHECK(checkpoints.clean_metrics() == std::set<std::string>{"resident_share", "corrupt_chunks"});
}

TEST_CASE("several operations in flight are measured with direct access only") {
  DiskFolder folder;
  Json params = small(folder);
  params["patterns"] = {"random_read"};
  params["random_block_bytes"] = {4096};
  params["depths"] = {1, 4};
  ProbeJob job("storage", params);
  job.run();
  std::set<std::string> seen;
  for (const Samples& samples : job.of("bandwidth"))
    seen.insert(samples.params.at("access").get<std::string>() +
                std::to_string(samples.params.at("depth").get<int>()));
  CHECK(seen == std::set<std::string>{"direct1", "direct4", "buffered1"});
  for (const Samples& samples : job.of("iops"))
    CHECK(samples.values.size() == samples.flags.size());
}

TEST_CASE("an unusable folder and one without space are skipped with the reason") {
  DiskFolder folder;
  Json params = small(folder);
  SECTION("no folder") {
    params["path"] = "/proc/none";
    ProbeJob job("storage", params);
    const Outcome outcome = job.run();
    CHECK(outcome.status == Status::skipped);
    CHECK_THAT(outcome.reason, Contains("/proc/none"));
  }
  SECTION("no room") {
    params["size_bytes"] = std::int64_t{1} << 50;
    ProbeJob job("storage", params);
    const Outcome outcome = job.run();
    CHECK(outcome.status == Status::skipped);
    CHECK_THAT(outcome.reason, Contains("free"));
  }
}

TEST_CASE("ranks that measure at once report their sum") {
  DiskFolder folder;
  CollectedRecords sink;
  run_ranks(2, [&](Group& group) {
    Json params = small(folder);
    params["patterns"] = {"sequential_write", "metadata"};
    params["access"] = {"buffered"};
    ProbeJob job("storage", params);
    job.run_on(job.device, group);
    if (group.rank() == 0) sink = job.sink;
  });
  bool seen = false;
  for (const Samples& samples : sink.samples())
    if (samples.metric == "bandwidth") {
      seen = true;
      CHECK(samples.over == "sum");
    }
  CHECK(seen);
  CHECK(facts_of(sink, "storage").at("ranks") == 2);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the probe checkpoint measures sync and async checkpoints and leaves no files") {
  DiskFolder folder;
  Json params = small_checkpoint(folder);
  params["mtbf_s"] = 10000;
  ProbeJob job("checkpoint", params);
  const Outcome outcome = job.run();
  INFO(outcome.reason);
  CHECK(outcome.status == Status::ok);
  REQUIRE(job.of("write_time").size() >= 1);
  CHECK(job.of("write_time").back().values.size() == 2);
  CHECK(job.of("read_bandwidth").size() == 1);
  REQUIRE(job.of("corrupt_chunks").size() == 2);  // sync and async
  for (const Samples& samples : job.of("corrupt_chunks")) CHECK(samples.check->passed());
  CHECK(job.of("stall").at(0).values.size() == 2);
  CHECK(job.of("drain").at(0).values.size() == 2);
  const auto projections = job.of("projected_time");
  CHECK(projections.size() == 3);  // its own, and the two of the 70B model
  for (const Samples& samples : projections)
    if (samples.outcome == Status::ok && samples.params.at("of_model") == "70b") {
      REQUIRE(samples.limit);
      CHECK(samples.limit->value == 60.0);
    }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a corrupt chunk makes the job invalid and is named") {
  DiskFolder folder;
  ProbeJob job("checkpoint", small_checkpoint(folder));
  State state(job.job, find_probe("checkpoint"), job.device, *job.group, job.sink);
  const CheckpointKind kind{"", "8b", "weights", 0.1, Access::direct, "sync"};
  ReadCheckpoint right, wrong;
  wrong.wrong = 1;
  wrong.faults = {"rank-00001.shard: chunk 3 is wrong"};
  write_faults(state, kind, {right, right});
  CHECK(state.finish().status == Status::ok);
  write_faults(state, kind, {right, wrong});
  const Outcome outcome = state.finish();
  CHECK(outcome.status == Status::invalid);
  CHECK_THAT(outcome.reason, Contains("chunk 3 is wrong"));
  CHECK(job.of("corrupt_chunks").at(1).outcome == Status::invalid);
}

TEST_CASE("measured storage bandwidth limits checkpoints on the same storage only") {
  DiskFolder folder;
  Json params = small_checkpoint(folder);
  params["modes"] = {"sync"};
  ProbeJob job("checkpoint", params);
  const auto limit = [&](const std::string& path, const char* pattern, double value) {
    job.job.limits.push_back({"write_bandwidth",
                              {{"path", path}, {"pattern", pattern}, {"access", "direct"}},
                              {value, LimitKind::measured, "storage.bandwidth"}});
  };
  limit("/elsewhere", "sequential_write", 1.0);
  limit(folder.path().string(), "sequential_read", 2.0);
  limit(folder.path().string(), "sequential_write", 3.0);
  job.run();
  for (const Samples& samples : job.of("write_bandwidth"))
    if (samples.params.at("access") == "direct") {
      REQUIRE(samples.limit);
      CHECK(samples.limit->value == 3.0);
    }
}

TEST_CASE("a part that is too small is not extrapolated") {
  DiskFolder folder;
  Json params = small_checkpoint(folder);
  params["cache_bytes"] = std::int64_t{1} << 40;
  params["modes"] = {"sync"};
  ProbeJob job("checkpoint", params);
  job.run();
  for (const Samples& samples : job.of("projected_time")) {
    CHECK(samples.outcome == Status::skipped);
    CHECK_THAT(samples.reason, Contains("not extrapolated"));
  }
}

TEST_CASE("ranks write one checkpoint and read each other's shards") {
  DiskFolder folder;
  CollectedRecords sink;
  Outcome outcome;
  run_ranks(3, [&](Group& group) {
    ProbeJob job("checkpoint", small_checkpoint(folder));
    const Outcome ended = job.run_on(job.device, group);
    if (group.rank() == 0) {
      sink = job.sink;
      outcome = ended;
    }
  });
  INFO(outcome.reason);
  CHECK(outcome.status == Status::ok);
  CHECK(facts_of(sink, "checkpoint").at("shared_folder") == true);
  CHECK(facts_of(sink, "checkpoint").at("read_by") == "the next rank");
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace bench::storage
