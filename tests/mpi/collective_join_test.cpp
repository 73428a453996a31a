// Runs under mpirun with 2 or 3 ranks: joining the ranks, paths that are asked for, recorded
// operations, and what a library chose.
#include "core/error.h"
#include "tests/mpi/run_collective.h"
#include "tests/support/catch.h"
#include "tests/support/group_with.h"

namespace bench {
namespace {

TEST_CASE("joining the ranks is timed; the last communicator is the one that is measured") {
  const MpiRun run = run_collective(mpi_test_group(), {{"init_repeats", 4}, {"max_bytes", 64}});
  CHECK(run.outcome.status == Status::ok);
  if (mpi_test_group().rank() != 0) return;
  std::size_t values = 0;
  for (const Samples& samples : run.samples) {
    if (samples.metric != "init_time") continue;
    CHECK(samples.over == "max");
    for (const double seconds : samples.values) CHECK((seconds > 0.0 && seconds < 10.0));
    values += samples.values.size();
  }
  CHECK(values == 4);  // "first" is there where this is the process's first job
}

TEST_CASE("what only another library can do is skipped with a reason") {
  const MpiRun isolated = run_collective(mpi_test_group(), {{"isolation", "nvlink"}});
  CHECK(isolated.outcome.status == Status::skipped);
  CHECK(isolated.outcome.reason.find("no choice of transports") != std::string::npos);
  const MpiRun graph = run_collective(mpi_test_group(), {{"graph_calls", {0, 8}}});
  CHECK(graph.outcome.status == Status::ok);
  for (const Samples& samples : graph.samples) {
    if (samples.metric == "init_time") continue;
    CHECK((samples.outcome == Status::skipped) == samples.params.contains("graph_calls"));
  }
}

/// Real MPI that stands for a library with choices of its own: it says how it did an operation,
/// over which paths, and records operations by keeping what would enqueue them.
class TalkativeCollectives final : public Collectives {
 public:
  explicit TalkativeCollectives(Group& group) : group_(group) {}
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    group_.collectives()->run(op, send, recv, count, dtype);
    ++calls;
  }
  std::string path_obstacle(const PathRequest&) const override { return ""; }
  void connect(const PathRequest& paths) override {
    asked = paths;
    if (group_.rank() == 1 && paths.network_card == "none0")
      throw Error(ErrorKind::environment, "there is no none0");
  }
  bool records() const override { return true; }
  std::unique_ptr<RecordedOperations> record(const std::function<void()>& enqueue) override {
    struct Again final : RecordedOperations {
      explicit Again(std::function<void()> work) : work_(std::move(work)) {}
      void replay() override { work_(); }
      std::function<void()> work_;
    };
    return std::make_unique<Again>(enqueue);
  }
  std::optional<CollectiveChoice> chosen() override { return CollectiveChoice{"RING", "LL", 2}; }
  UsedPaths used_paths() override {
    if (group_.rank() == 0) return {{"P2P"}, {}};
    return {{"P2P", "SHM"}, {}};
  }
  PathRequest asked;
  int calls = 0;

 private:
  Group& group_;
};

TEST_CASE(
    "the library's choice is reported with each rate, and its paths are checked against the "
    "request") {
  TalkativeCollectives talkative(mpi_test_group());
  GroupWith group(mpi_test_group(), talkative);
  const MpiRun run = run_collective(group, {{"max_bytes", 64}});
  CHECK(run.outcome.status == Status::ok);
  for (const Samples& samples : run.samples)
    if (samples.metric == "busbw")
      CHECK(samples.chosen == Json{{"algorithm", "RING"}, {"protocol", "LL"}, {"channels", 2}});
  const MpiRun isolated = run_collective(group, {{"max_bytes", 64}, {"isolation", "nvlink"}});
  CHECK(talkative.asked.isolation == Isolation::nvlink);
  CHECK(isolated.outcome.status == Status::invalid);  // on every rank, though one alone used SHM
  CHECK(isolated.outcome.reason.find("SHM was used") != std::string::npos);
}

TEST_CASE("ranks that one rank cannot join skip together") {
  TalkativeCollectives talkative(mpi_test_group());
  GroupWith group(mpi_test_group(), talkative);
  const MpiRun run = run_collective(group, {{"network_card", "none0"}});
  CHECK(run.outcome.status == Status::skipped);
  CHECK(run.outcome.reason.find("unavailable transport: ") == 0);
}

TEST_CASE("recorded operations are repeated as a whole, verified, and labelled") {
  TalkativeCollectives talkative(mpi_test_group());
  GroupWith group(mpi_test_group(), talkative);
  const MpiRun run = run_collective(
      group,
      {{"max_bytes", 64}, {"graph_calls", {1, 8}}, {"placements", {"out_of_place", "in_place"}}});
  CHECK(run.outcome.status == Status::ok);
  if (mpi_test_group().rank() != 0) return;
  int verified = 0, skipped = 0;
  for (const Samples& samples : run.samples) {
    if (samples.outcome == Status::skipped) ++skipped;
    if (samples.metric != "busbw") continue;
    CHECK(samples.params.at("graph_calls") == samples.repeats);
    CHECK(samples.check->passed());
    ++verified;
  }
  CHECK(verified == 3);
  CHECK(skipped == 1);  // in place, eight at a time
}

}  // namespace
}  // namespace bench
