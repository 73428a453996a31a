// Kills a process (SIGKILL) before each file operation of a save in turn.
#include <unistd.h>

#include <csignal>

#include "tests/support/catch.h"
#include "tests/support/killed_child.h"
#include "tests/support/temporary_directory.h"
#include "tests/training/gradient_check.h"
#include "training/checkpoint/checkpoints.h"
#include "training/host/host_kernels.h"
#include "training/operators/linear.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

constexpr int kSavedSteps = 3;

/// A training that starts quickly and has no threads.
struct Small {
  Graph graph = Graph();
  Var tokens, losses;
  Plan plan;
  std::unique_ptr<Group> group = make_self_group();
  std::unique_ptr<Replica> replica = {};
  std::unique_ptr<DataParallel> parallel = {};
  std::unique_ptr<Checkpoints> checkpoints = {};

  Small(const std::filesystem::path& folder, const FileObserver& observer) {
    tokens = graph.input("tokens", {8, 1}, Dtype::int32);
    const Var table = graph.parameter("table", {5, 16}, {Initial::normal(0.5)});
    const Var head = graph.parameter("head", {16, 5}, {Initial::normal(0.5)});
    losses = cross_entropy(linear(embedding(tokens, table), head), tokens);
    plan = make_plan(graph);
    replica = std::make_unique<Replica>(
        plan, losses, [](Dtype d) { return host_kernels(d); }, make_adamw({}), ReplicaOptions{});
    parallel = std::make_unique<DataParallel>(*replica, *group);
    checkpoints = std::make_unique<Checkpoints>(*parallel, Json{{"workload", "small"}},
                                                CheckpointOptions{folder, 1, observer});
  }
  void train() {
    parallel->step([this](const Lane& lane, int) { fill_ids(lane.view(tokens), 5, 1); }, 0.01);
  }
};

/// Trains, saves and reports each saved step; killed before operation `fatal`. Never returns.
[[noreturn]] void train_until_killed(const std::filesystem::path& folder, int fatal, int reports) {
  int operation = 0;
  Small small(folder, [&](const std::string&) {
    if (operation++ == fatal) raise(SIGKILL);
  });
  for (char step = 1; step <= kSavedSteps; ++step) {
    small.train();
    small.checkpoints->save();
    if (write(reports, &step, 1) != 1) _exit(2);
  }
  _exit(0);
}

}  // namespace

TEST_CASE("kill -9 at any point of saving loses only the unfinished checkpoint") {
  std::vector<std::uint64_t> hashes;  // after 0, 1, ... steps
  {
    TemporaryDirectory folder;
    Small small(folder.path(), {});
    for (int step = 0; step <= kSavedSteps; ++step) {
      hashes.push_back(small.parallel->parameter_hash());
      small.train();
    }
  }
  int fatal = 0;
  for (bool killed = true; killed; ++fatal) {
    TemporaryDirectory folder;
    const KilledChild child =
        run_until_killed([&](int reports) { train_until_killed(folder.path(), fatal, reports); });
    killed = child.killed;
    Small again(folder.path(), {});
    const auto loaded = again.checkpoints->load();
    const auto step = static_cast<std::size_t>(loaded ? loaded->step : 0);
    INFO("killed before operation " << fatal << " after " << child.saved << " were reported");
    CHECK(static_cast<int>(step) >= child.saved);
    CHECK(static_cast<int>(step) <= child.saved + 1);
    CHECK(again.parallel->parameter_hash() == hashes[step]);
    again.train();
    again.checkpoints->save();  // and what the child left is tidied up
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  }
  CHECK(fatal > 20);  // of three saves
}

}  // namespace bench::training
