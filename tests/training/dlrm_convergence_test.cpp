// What dlrm tiny learns, on click logs whose highest AUC is known.
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>

#include "probes/training/workloads/dlrm.h"
#include "tests/support/catch.h"
#include "tests/training/dlrm_trainer.h"

namespace bench::training {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int asked(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

}  // namespace

// By hand: training_tests "dlrm tiny reaches its target", with SEED, LANES, MICRO, STEPS as asked.
TEST_CASE("dlrm tiny reaches its target", "[.evidence]") {
  const auto begin = std::chrono::steady_clock::now();
  DlrmTrainerOptions options;
  options.seed = static_cast<std::uint64_t>(asked("SEED", 1));
  options.lanes = asked("LANES", 2);
  options.micro_batches = asked("MICRO", 4);
  const std::unique_ptr<Workload> workload = make_dlrm_workload("tiny", options.seed);
  const std::unique_ptr<Group> group = make_self_group();
  const Recipe& recipe = workload->recipe();
  DlrmTrainer trainer(*workload, *group, options);
  const bool to_the_end = asked("TO_THE_END", 0) != 0;
  const int steps = asked("STEPS", static_cast<int>(recipe.horizon));
  double training = 0.0, gap = 1.0;
  int step = 0;
  const std::clock_t cpu = std::clock();  // says what a machine that others use too hides
  while (step < steps && (to_the_end || gap > recipe.target)) {
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < recipe.evaluation_every && step < steps; ++i, ++step) trainer.step();
    training += seconds_since(before);
    const Quality quality = trainer.evaluate(recipe.evaluation_samples);
    gap = quality.gap;
    std::cout << "step " << step << " gap " << gap << " log-loss gap " << quality.parts[1].second
              << "\n";
  }
  std::cout << "gap " << gap << " after " << training << " s of steps and " << seconds_since(begin)
            << " s in all, " << static_cast<double>(step * recipe.batch) / training
            << " samples/s; " << static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC
            << " CPU seconds, evaluations included\n";
  CHECK(gap <= recipe.target);
}

// 0.052 is the gap of a model that knows every feature's effect and no interaction.
TEST_CASE("dlrm tiny learns interactions within 150 steps") {
  const std::unique_ptr<Workload> workload = make_dlrm_workload("tiny", 1);
  const std::unique_ptr<Group> group = make_self_group();
  DlrmTrainerOptions options;
  options.micro_batches = 4;
  DlrmTrainer trainer(*workload, *group, options);
  for (int step = 0; step < 150; ++step) trainer.step();
  const Quality quality = trainer.evaluate(32768);
  CHECK(quality.gap < 0.032);
  CHECK(quality.gap > 0.01);  // better than it can be yet: it would have seen these samples
  CHECK(quality.parts[1].second < 0.05);
  CHECK(quality.parts[2].second == Approx(1.0).margin(0.05));
  CHECK(quality.parts[3].second == Approx(0.052).margin(0.004));
}

}  // namespace bench::training
