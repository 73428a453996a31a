#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "core/whole_file.h"
#include "devices/host/host_device.h"
#include "tests/probes/traffic/logged_calls.h"
#include "tests/support/catch.h"
#include "tests/support/group_with.h"
#include "tests/support/probe_job.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "training/host/host_kernels.h"

namespace bench {
using Catch::Matchers::Contains;
namespace {

struct TrafficRun {
  Outcome outcome;
  std::vector<Samples> samples;
  std::vector<Facts> facts;

  std::vector<std::string> params(const std::string& metric, const char* key) const {
    std::vector<std::string> found;
    for (const Samples& one : samples)
      if (one.metric == metric && one.params.contains(key))
        found.push_back(one.params.at(key).get<std::string>());
    return found;
  }
  double value(const std::string& metric, const char* key, const std::string& of) const {
    for (const Samples& one : samples)
      if (one.metric == metric && one.params.value(key, "") == of) return one.values.front();
    return -1.0;
  }
};

/// On ranks that are threads, as rank 0 reports it. `change` is called after each call of any rank.
TrafficRun run_traffic_on(int ranks, Json params, const LoggedCalls::Change& change = {}) {
  TrafficRun run;
  params.update({{"micro_batch", 1}, {"sequence", 8}, {"layers", 2}, {"steps", 1}});
  run_ranks(ranks, [&](Group& group) {
    ProbeJob job("traffic", params);
    job.job.measure.max_time_s = job.job.measure.warm_up_max_s = 0.001;
    job.job.measure.min_time_s = 0.0;
    job.job.measure.max_samples = 3;
    const auto device = make_host_device(make_host_training_kernels);
    LoggedCalls::Log log;
    LoggedCalls logged(group, log, change);
    const Outcome outcome = job.run_on(*device, logged);
    if (group.rank() != 0) return;
    run.outcome = outcome;
    run.samples = job.sink.samples();
    for (const Record& record : job.sink.records)
      if (const auto* facts = std::get_if<Facts>(&record.body)) run.facts.push_back(*facts);
  });
  return run;
}

Json step_of(Json params) {
  params["parts"] = {"step"};
  return params;
}

/// Changes one bit of some messages.
LoggedCalls::Change bit_flips(int of_ranks) {
  return [of_ranks, calls = std::make_shared<std::atomic<int>>(0)](int ranks,
                                                                   std::span<std::byte> received) {
    if (ranks == of_ranks && ++*calls % 5 == 3) received[6] ^= std::byte{0x10};
  };
}

}  // namespace

TEST_CASE("a probe of traffic reports the step, each group alone and what is exposed") {
  const TrafficRun run = run_traffic_on(4, {{"tp", 2}, {"micro_batches", 2}});
  REQUIRE(run.outcome.status == Status::ok);
  CHECK(run.params("time", "part") ==
        std::vector<std::string>{"tp", "dp", "traffic", "computation", "step"});
  CHECK(run.params("group_time", "group") == std::vector<std::string>{"tp", "dp", "all"});
  CHECK(run.params("interference", "group") == std::vector<std::string>{"tp", "dp"});
  // For each micro-batch 4 all-reduces of 8 x 64 numbers in each of 2 layers and 2 for the
  // vocabulary, and 3 numbers of 8 rows from both ranks.
  CHECK(run.value("bytes", "group", "tp") == 2 * ((4 * 2 + 2) * 8 * 64 * 4 + 2 * 3 * 8 * 4));
  CHECK(run.value("time", "part", "step") > 0.0);
}

TEST_CASE("a probe of traffic measures only the parts that are asked for") {
  const TrafficRun run = run_traffic_on(2, step_of({{"tp", 2}}));
  REQUIRE(run.outcome.status == Status::ok);
  CHECK(run.params("time", "part") == std::vector<std::string>{"step"});
  CHECK(run.params("group_time", "group") == std::vector<std::string>{"tp", "all"});
  CHECK(run.params("interference", "group").empty());
}

TEST_CASE("every kind of traffic arrives as it was sent") {
  const Json experts = {
      {"experts", 4}, {"active_experts", 2}, {"expert_hidden", 16}, {"routing_skew", 1}};
  Json both = {{"ep", 2}, {"cp", 2}, {"micro_batches", 1}};
  both.update(experts);
  Json four = {{"ep", 4}, {"dtype", "bf16"}};
  four.update(experts);
  for (const Json& params :
       {Json{{"tp", 2}, {"sequence_parallel", true}, {"pp", 2}}, Json{{"zero", 3}},
        Json{{"zero", 1}, {"sums", "library"}}, Json{{"cp", 4}}, both, four,
        Json{{"cp", 2}, {"context_exchange", "all_gather"}},
        Json{{"tp", 4}, {"sums", "library"}, {"buffer_bytes", 1 << 20}},
        Json{{"bucket_bytes", 1 << 15}},  // several buckets, overlapped
        Json{{"forward_s", 1e-5}, {"backward_s", 2e-5}, {"update_s", 1e-5}}}) {
    INFO(dump(params));
    const TrafficRun run = run_traffic_on(4, step_of(params));
    CHECK(run.outcome.reason == "");
    CHECK(run.outcome.status == Status::ok);
  }
}

TEST_CASE("one wrong bit in some messages of one group makes the step invalid") {
  const struct {
    Json params;
    int ranks, of_ranks;
  } cases[] = {{{{"tp", 2}}, 2, 2},
               {{{"pp", 2}}, 2, 2},
               {{{"cp", 2}}, 2, 2},
               {{{"zero", 3}}, 2, 2},
               {{{"ep", 2}, {"experts", 2}, {"active_experts", 1}, {"expert_hidden", 16}}, 2, 2},
               {{{"tp", 2}, {"sums", "library"}}, 6, 3}};  // of the gradients
  for (const auto& [params, ranks, of_ranks] : cases) {
    INFO(dump(params));
    const TrafficRun run = run_traffic_on(ranks, step_of(params), bit_flips(of_ranks));
    CHECK(run.outcome.status == Status::invalid);
    CHECK_THAT(run.outcome.reason, Contains("wrong result"));
  }
}

TEST_CASE("the group that is slow is the one that holds the step up") {
  const auto held_by = [](int slow) {
    const TrafficRun run =
        run_traffic_on(6, step_of({{"tp", 2}, {"bucket_bytes", 1 << 15}}),
                       [slow](int ranks, std::span<std::byte>) {
                         if (ranks == slow)
                           std::this_thread::sleep_for(std::chrono::milliseconds(2));
                       });
    for (const Facts& facts : run.facts)
      if (facts.topic == "traffic") return facts.facts.at("held_by").get<std::string>();
    return std::string();
  };
  CHECK(held_by(2) == "tp");
  CHECK(held_by(3) == "dp");
}

TEST_CASE("a recorded step runs in place of a model's, and ranks must agree on it") {
  const TemporaryDirectory folder;
  const auto write = [&](int rank, int bytes) {
    write_file(
        folder.path() / ("et." + std::to_string(rank) + ".json"),
        R"([{"id": 1, "type": 7, "attr": [{"name": "comm_type"}, {"name": "comm_size", "int64Val": )" +
            std::to_string(bytes) + R"(}, {"name": "pg_name", "stringVal": "0"}]},
                  {"id": 2, "type": 4, "duration_micros": 5, "data_deps": [1]},
                  {"id": 3, "type": 7, "attr": [{"name": "comm_type", "int64Val": 6},
                                                {"name": "comm_size", "int64Val": 256}]}])");
  };
  const Json params = {{"trace", (folder.path() / "et.{rank}.json").string()},
                       {"trace_groups", {"0=tp"}},
                       {"tp", 2}};
  for (int rank = 0; rank < 4; ++rank) write(rank, 512);
  const TrafficRun run = run_traffic_on(4, params);
  CHECK(run.outcome.reason == "");
  CHECK(run.params("group_time", "group") == std::vector<std::string>{"all", "tp"});
  CHECK(run.value("bytes", "group", "tp") == 512);
  CHECK(run.value("bytes", "group", "all") == 256);
  write(3, 1024);
  CHECK_THROWS_WITH(run_traffic_on(4, params), Contains("node with id 1 of rank 2") &&
                                                   Contains("would meet") &&
                                                   Contains("node with id 1 of rank 3"));
}

TEST_CASE("a trace that needs more than a host or a call of the library is not run") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "et.json";
  const auto reason = [&](int type) {
    write_file(path, R"([{"id": 1, "type": 7, "attr": [{"name": "comm_type", "int64Val": )" +
                         std::to_string(type) +
                         R"(}, {"name": "comm_size", "int64Val": "1099511627776"}]}])");
    return run_traffic_on(2, {{"trace", path.string()}}).outcome.reason;
  };
  CHECK_THAT(reason(6), Contains("all_to_all") && Contains("above the limit of MPI"));
  CHECK_THAT(reason(0), Contains("above the limit of MPI"));
}

TEST_CASE("a step with more traffic than memory is skipped") {
  const TrafficRun run = run_traffic_on(
      2, {{"tp", 2}, {"vocabulary", 1 << 24}, {"width", 1 << 14}, {"heads", 4}, {"hidden", 64}});
  CHECK_THAT(run.outcome.reason, Contains("of memory, may use"));
}

TEST_CASE("the times of warm-up are no samples, and each sample keeps its flags") {
  const TrafficRun run = run_traffic_on(2, {{"tp", 2}});
  std::size_t samples = 0;
  for (const Samples& one : run.samples)
    if (one.metric == "time" && one.params.value("part", "") == "step") samples = one.values.size();
  CHECK(samples > 0);
  int found = 0;
  for (const Samples& one : run.samples) {
    if (one.metric != "group_time") continue;
    ++found;
    CHECK(one.values.size() == samples);
    CHECK(one.flags.size() == samples);
  }
  CHECK(found == 2);
}

TEST_CASE("a step that waits for its computation is held up by it") {
  const TrafficRun run = run_traffic_on(2, step_of({{"forward_s", 0.005}, {"backward_s", 0.005}}));
  for (const Facts& facts : run.facts)
    if (facts.topic == "traffic") CHECK(facts.facts.at("held_by") == "computation");
}

TEST_CASE("traffic is skipped by one rank and by ranks without collectives") {
  ProbeJob alone("traffic", Json::object());
  CHECK_THAT(alone.run().reason, Contains("at least two ranks"));
  std::string reason;
  run_ranks(2, [&](Group& group) {
    ProbeJob job("traffic", Json::object());
    const auto device = make_host_device(make_host_training_kernels);
    GroupWith without(group);
    const Outcome outcome = job.run_on(*device, without);
    if (group.rank() == 0) reason = outcome.reason;
  });
  CHECK_THAT(reason, Contains("no collective library"));
}

}  // namespace bench
