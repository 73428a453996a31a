// Gradients of ranks that train with tables, and gradients lost in the exchange.
#include <cstring>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/group_with.h"
#include "tests/support/thread_group.h"
#include "tests/training/dlrm_training.h"
#include "tests/training/short_training.h"
#include "tests/training/two_tower_training.h"

namespace bench::training {
namespace {

/// Arms the collectives when the run's clock has stopped, so that only the check is affected.
struct ArmsAtTheEnd final : RunObserver {
  void run_stop(std::int64_t, bool) override { armed = true; }
  bool armed = false;
};

/// Once armed, rank 1 sends zeros instead of a tenth of the second block that is as large as the
/// first: looked-up rows come first, then the gradients for them.
class LosingTables final : public PassingCollectives {
 public:
  LosingTables(Group& group, const ArmsAtTheEnd& end, bool loses)
      : PassingCollectives(group), rank_(group.rank()), end_(end), loses_(loses) {}
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    if (!end_.armed || op != CollectiveOp::all_to_all || dtype != Dtype::f32)
      return PassingCollectives::run(op, send, recv, count, dtype);
    if (size_ == 0) size_ = count;
    std::vector<std::byte> sent(count * 2 * sizeof(float));
    std::memcpy(sent.data(), send, sent.size());
    if (count == size_ && ++seen_ == 2 && rank_ == 1 && loses_)
      std::memset(sent.data(), 0, sent.size() / 10);
    PassingCollectives::run(op, sent.data(), recv, count, dtype);
  }

 private:
  int rank_;
  const ArmsAtTheEnd& end_;
  bool loses_;
  std::size_t size_ = 0;
  int seen_ = 0;
};

TrainingRun three_steps(bool towers, Group& group, RunObserver& end) {
  TrainerOptions options = towers ? two_tower_training(3) : dlrm_training(3, 256);
  options.recipe.batch = 256;
  options.lanes = 1;
  return towers ? train_two_tower(1, options, group, end).run
                : train_dlrm(1, options, group, end).run;
}

std::vector<TrainingCheck> checks_of_two_ranks(bool towers, bool loses) {
  std::vector<TrainingCheck> checks(2);
  run_ranks(2, [&](Group& group) {
    ArmsAtTheEnd end;
    LosingTables collectives(group, end, loses);
    GroupWith losing(group, collectives);
    const TrainingRun run = three_steps(towers, losing, end);
    checks[static_cast<std::size_t>(group.rank())] = check_named(run, "gradient_exchange");
  });
  return checks;
}

}  // namespace

TEST_CASE("ranks with tables compare table gradients with those of one rank") {
  for (const bool towers : {false, true})
    for (const TrainingCheck& check : checks_of_two_ranks(towers, false)) {
      INFO(check.text);
      CHECK(check.held);
      CHECK_THAT(check.text,
                 Catch::Matchers::Contains("2 ranks, embedding tables included, differs"));
    }
}

TEST_CASE("table gradients lost between two ranks are found by both") {
  for (const bool towers : {false, true})
    for (const TrainingCheck& check : checks_of_two_ranks(towers, true)) {
      INFO(check.text);
      CHECK_FALSE(check.held);
    }
}

}  // namespace bench::training
