// What lora tiny learns, on a dialect whose lowest loss is known.
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/lora_training.h"
#include "tests/training/study.h"
#include "training/engine/content_hash.h"
#include "training/host/host_kernels.h"

namespace bench::training {
// By hand: training_tests "lora tiny reaches its target", with SEED, STEPS, RATE, RANK (of the
// adapters; alpha is twice that), BASE_STEPS, TO_THE_END as asked. BASE_CACHE keeps the base.
TEST_CASE("lora tiny reaches its target", "[.evidence]") {
  const auto seed = static_cast<std::uint64_t>(asked_count("SEED", 1));
  LoraSetting setting = lora_setting("tiny");
  Recipe& of_base = setting.base.recipe;
  setting.base = base_training(setting.base, asked_count("BASE_STEPS", of_base.horizon));
  setting.shape.rank = asked_count("RANK", setting.shape.rank);
  setting.shape.alpha = 2 * setting.shape.rank;
  Recipe& recipe = setting.training.recipe;
  const double target = recipe.target.value();
  recipe.horizon = recipe.schedule.horizon = asked_count("STEPS", recipe.horizon);
  recipe.schedule.peak = asked_number("RATE", recipe.schedule.peak);
  if (asked_count("TO_THE_END", 0) != 0) recipe.target.reset();
  const auto kernels = [](Dtype dtype) { return host_kernels(dtype); };
  const auto alone = make_self_group();
  TrainerOptions options;
  options.lanes = 2;
  options.recipe = of_base;
  const char* cache = std::getenv("BASE_CACHE");
  const auto base_workload = make_lora_base_workload_from("tiny", setting);
  const auto task = make_lora_workload_from("tiny", setting, seed);
  const Pretrained base =
      pretrain(*base_workload, *task, options, cache ? cache : "", kernels, *alone);
  std::cout << "base gap " << base.gap << " unadapted " << base.unadapted << " hash "
            << hash_text(base.hash) << " after " << base.seconds << " s\n";

  const StudyClock clock;
  LoraTraining training{.setting = setting, .steps = 0, .seed = seed, .base = &base};
  training.options = {.lanes = 2, .seed = seed};
  PrintedGaps looks(recipe.batch);
  const TrainingRun run = train_lora(training, *alone, looks);
  const CurvePoint& last = run.curve.back();
  clock.print(run);
  check_that_all_held(run);
  CHECK(last.gap <= target);
}

}  // namespace bench::training
