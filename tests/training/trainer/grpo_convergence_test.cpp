// What grpo tiny learns from rewards, next to what a perfect imitation of its demonstrations does.
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/study.h"
#include "training/engine/content_hash.h"
#include "training/host/host_kernels.h"
#include "training/trainer/pretraining.h"
#include "training/workloads/grpo.h"

namespace bench::training {
// By hand: training_tests "grpo tiny reaches its target", with SEED, STEPS, RATE, KL, BASE_STEPS,
// TO_THE_END as asked. BASE_CACHE keeps the base.
TEST_CASE("grpo tiny reaches its target", "[.evidence]") {
  const std::uint64_t seed = asked_seed();
  GrpoSetting setting = grpo_setting("tiny");
  Recipe& of_base = setting.base.recipe;
  setting.base = base_training(setting.base, asked_count("BASE_STEPS", of_base.horizon));
  of_base.schedule.peak = asked_number("BASE_RATE", of_base.schedule.peak);
  of_base.batch = asked_count("BASE_BATCH", of_base.batch);
  Recipe& recipe = setting.recipe;
  const double target = recipe.target.value();
  recipe = asked_recipe(recipe);
  setting.rollouts.generations = asked_count("GROUP", setting.rollouts.generations);
  setting.rollouts.kl = asked_number("KL", setting.rollouts.kl);
  const auto kernels = [](Dtype dtype) { return host_kernels(dtype); };
  const auto alone = make_self_group();
  const char* cache = std::getenv("BASE_CACHE");
  const auto base_workload = make_grpo_base_workload_from("tiny", setting);
  const auto task = make_grpo_workload_from("tiny", setting, seed);
  const Pretrained base = pretrain(*base_workload, *task, {.recipe = of_base, .lanes = 2},
                                   cache ? cache : "", kernels, *alone);
  std::cout << "base gap " << base.gap << " unadapted " << base.unadapted << " imitation "
            << task->baselines().front().second << " hash " << hash_text(base.hash) << " after "
            << base.seconds << " s\n";

  const StudyClock clock;
  TrainerOptions options{.recipe = recipe, .lanes = 2, .seed = seed};
  options.base = &base;
  Trainer trainer(*task, options, kernels, *alone);
  PrintedGaps looks(recipe.batch);
  const TrainingRun run = trainer.run(looks);
  clock.print(run);
  for (const PhaseTime& phase : run.breakdown)
    std::cout << to_string(phase.phase) << " " << phase.mean.value << " s\n";
  check_that_all_held(run);
  CHECK(run.curve.back().gap <= target);
}

}  // namespace bench::training
