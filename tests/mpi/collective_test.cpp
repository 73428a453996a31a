// Runs under mpirun with 2 or 3 ranks: every operation, type and placement must verify, and a
// single flipped bit in any rank's output must not.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <thread>

#include "core/error.h"
#include "devices/collectives.h"
#include "tests/mpi/run_collective.h"
#include "tests/support/catch.h"
#include "tests/support/group_with.h"

namespace bench {
namespace {

/// Real MPI whose result is spoiled on one rank.
class CorruptCollectives final : public Collectives {
 public:
  CorruptCollectives(Group& group, int rank) : group_(group), rank_(rank) {}
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    group_.collectives()->run(op, send, recv, count, dtype);
    if (group_.rank() == rank_)
      static_cast<std::byte*>(recv)[count * size_of(dtype) - 1] ^= std::byte{1};
  }

 private:
  Group& group_;
  int rank_;
};

/// Real MPI that notes where in a page the buffers lie.
class NotingCollectives final : public Collectives {
 public:
  explicit NotingCollectives(Group& group) : group_(group) {}
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    constexpr std::uintptr_t kPage = 4096;
    for (const void* buffer : {send, static_cast<const void*>(recv)})
      places.insert(reinterpret_cast<std::uintptr_t>(buffer) % kPage);
    group_.collectives()->run(op, send, recv, count, dtype);
  }
  std::set<std::uintptr_t> places;

 private:
  Group& group_;
};

TEST_CASE("every operation, type and placement is exact") {
  const MpiRun run =
      run_collective(mpi_test_group(), {{"ops",
                                         {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                          "reduce", "all_to_all", "send_recv"}},
                                        {"dtypes", {"f32", "f64", "int32", "int64"}},
                                        {"placements", {"out_of_place", "in_place"}}});
  INFO(run.outcome.reason);
  CHECK(run.outcome.status == Status::ok);
  if (mpi_test_group().rank() != 0) return;
  std::set<std::string> skipped;
  for (const Samples& samples : run.samples) {
    INFO(dump(samples.params));
    if (samples.metric == "init_time") continue;
    if (samples.outcome == Status::skipped)
      skipped.insert(samples.params.at("op").get<std::string>());
    else
      CHECK((samples.outcome == Status::ok && samples.check && samples.check->passed()));
  }
  CHECK(skipped == std::set<std::string>{"broadcast", "send_recv"});  // in place
}

TEST_CASE("what MPI cannot sum it moves, exactly") {
  for (const std::string dtype : {"bf16", "f16"}) {
    const MpiRun run = run_collective(
        mpi_test_group(),
        {{"ops", {"all_gather", "broadcast", "all_to_all", "send_recv"}}, {"dtypes", {dtype}}});
    INFO(dtype << ": " << run.outcome.reason);
    CHECK(run.outcome.status == Status::ok);
    for (const Samples& samples : run.samples)
      if (samples.metric != "init_time")
        CHECK((samples.outcome == Status::ok && samples.check && samples.check->passed()));
    const MpiRun sums =
        run_collective(mpi_test_group(), {{"ops", {"all_reduce"}}, {"dtypes", {dtype}}});
    for (const Samples& samples : sums.samples)
      if (samples.metric != "init_time") CHECK(samples.reason == "MPI cannot sum this type");
  }
}

TEST_CASE("a flipped bit on any rank makes the job invalid on every rank") {
  for (int rank = 0; rank < mpi_test_group().size(); ++rank) {
    CorruptCollectives corrupt(mpi_test_group(), rank);
    GroupWith group(mpi_test_group(), corrupt);
    for (const char* op :
         {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv"}) {
      INFO(op << " on rank " << rank);
      CHECK(run_collective(group, {{"ops", {op}}}).outcome.status == Status::invalid);
    }
  }
}

/// Real MPI that is slow on one rank, once it has the data.
class SlowCollectives final : public Collectives {
 public:
  SlowCollectives(Group& group, int rank) : group_(group), rank_(rank) {}
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    group_.collectives()->run(op, send, recv, count, dtype);
    // Longer than a busy machine keeps another rank from its core.
    if (group_.rank() == rank_) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

 private:
  Group& group_;
  int rank_;
};

TEST_CASE("each rank's own times are kept: the longest is the latency, and the slow rank's") {
  const int slow = mpi_test_group().size() - 1;
  SlowCollectives collectives(mpi_test_group(), slow);
  GroupWith group(mpi_test_group(), collectives);
  const MpiRun run = run_collective(group, {{"max_bytes", 64}});
  if (group.rank() != 0) return;
  REQUIRE(run.chunks.size() == 1);
  const Chunk& chunk = run.chunks.front();
  const auto latency = std::ranges::find(run.samples, "latency", &Samples::metric);
  REQUIRE(latency != run.samples.end());
  CHECK(chunk.name == "rank_times " + dump(latency->params));
  REQUIRE(chunk.columns.size() == static_cast<std::size_t>(group.size()) + 1);
  REQUIRE(chunk.columns["sample"].size() == latency->values.size());
  std::size_t slowest = 0;
  for (std::size_t i = 0; i < latency->values.size(); ++i) {
    double most = 0.0;
    for (int rank = 0; rank < group.size(); ++rank)
      most = std::max(most, chunk.columns["rank" + std::to_string(rank)][i].get<double>());
    CHECK(most == Approx(latency->values[i] * static_cast<double>(latency->repeats)));
    if (most == chunk.columns["rank" + std::to_string(slow)][i].get<double>()) ++slowest;
  }
  CHECK(2 * slowest > latency->values.size());
}

TEST_CASE("buffers lie as far behind the beginning of a page as asked") {
  for (const std::size_t offset : {0, 16}) {
    NotingCollectives noting(mpi_test_group());
    GroupWith group(mpi_test_group(), noting);
    const MpiRun run = run_collective(group, {{"offset_bytes", offset}, {"timing", "pipelined"}});
    CHECK(run.outcome.status == Status::ok);
    CHECK(noting.places == std::set<std::uintptr_t>{offset});
  }
}

TEST_CASE("bus bandwidth is algorithm bandwidth times the operation's factor") {
  const double n = mpi_test_group().size();
  const std::map<std::string, double> factors = {{"all_reduce", 2 * (n - 1) / n},
                                                 {"all_gather", (n - 1) / n},
                                                 {"reduce_scatter", (n - 1) / n},
                                                 {"all_to_all", (n - 1) / n},
                                                 {"broadcast", 1.0},
                                                 {"reduce", 1.0},
                                                 {"send_recv", 1.0}};
  for (const auto& [op, factor] : factors) {
    const MpiRun run =
        run_collective(mpi_test_group(), {{"ops", {op}}, {"min_bytes", 3072}, {"max_bytes", 3072}});
    if (mpi_test_group().rank() != 0) continue;
    REQUIRE(run.samples.size() >= 3);  // behind the time of joining the ranks
    const auto rates = run.samples.end() - 3;
    const auto& [latency, algbw, busbw] = std::tie(rates[0], rates[1], rates[2]);
    CHECK(algbw.values[0] == Approx(3072 / latency.values[0]));
    CHECK(busbw.values[0] == Approx(algbw.values[0] * factor));
  }
}

TEST_CASE("timings of other tools are labelled, averaged over ranks, and refuse in place") {
  for (const char* timing : {"pipelined", "osu"}) {
    const MpiRun run = run_collective(
        mpi_test_group(), {{"timing", timing}, {"placements", {"out_of_place", "in_place"}}});
    CHECK(run.outcome.status == Status::ok);
    if (mpi_test_group().rank() != 0) continue;
    for (const Samples& samples : run.samples) {
      if (samples.metric == "init_time" || samples.outcome == Status::skipped) continue;
      CHECK(samples.over == "mean");
      CHECK(samples.params.at("timing") == timing);
    }
    CHECK(run.samples.back().outcome == Status::skipped);
  }
}

TEST_CASE("a rank alone skips") {
  const auto alone = make_self_group();
  CHECK(run_collective(*alone, Json::object()).outcome.status == Status::skipped);
}

/// Of a single rank: each operation leaves it what it sent.
class OwnData final : public Collectives {
 public:
  void run(CollectiveOp, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    std::memmove(recv, send, count * size_of(dtype));
    if (spoiled) static_cast<std::byte*>(recv)[0] ^= std::byte{1};
  }
  bool spoiled = false;
};

TEST_CASE("a rank alone runs and verifies every operation but a broadcast where it is asked to") {
  const auto alone = make_self_group();
  OwnData own;
  GroupWith group(*alone, own);
  const Json params = {{"alone", true},
                       {"ops",
                        {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                         "all_to_all", "send_recv"}}};
  for (const bool spoiled : {false, true}) {
    own.spoiled = spoiled;
    const MpiRun run = run_collective(group, params);
    CHECK(run.outcome.status == (spoiled ? Status::invalid : Status::ok));
    std::set<std::string> ops;
    for (const Samples& samples : run.samples) {
      CHECK((samples.metric == "latency" || samples.metric == "init_time"));  // no bandwidth
      if (samples.metric != "latency") continue;
      const std::string op = samples.params.at("op").get<std::string>();
      ops.insert(op);
      INFO(op);
      CHECK(samples.outcome == (op == "broadcast" ? Status::skipped
                                : spoiled         ? Status::invalid
                                                  : Status::ok));
    }
    CHECK(ops.size() == 7);
  }
}

}  // namespace
}  // namespace bench
