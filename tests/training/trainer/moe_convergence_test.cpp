// What moe tiny learns, on text whose lowest loss is known.
#include <cstdlib>
#include <iostream>

#include "tests/support/catch.h"
#include "tests/training/study.h"
#include "training/host/host_kernels.h"
#include "training/trainer/trainer.h"
#include "training/workloads/moe.h"

namespace bench::training {
// By hand: training_tests "moe tiny reaches its target", with SEED, STEPS, RATE, PRESET as asked.
TEST_CASE("moe tiny reaches its target", "[.evidence]") {
  const StudyClock clock;
  const char* asked = std::getenv("PRESET");
  const std::string preset = asked ? asked : "tiny";
  MoeSetting setting = moe_setting(preset);
  const double target = setting.recipe.target.value();
  setting.shape.balance = asked_number("BALANCE", setting.shape.balance);
  setting.shape.hidden = asked_count("HIDDEN", setting.shape.hidden);
  setting.shape.experts = asked_count("EXPERTS", setting.shape.experts);
  setting.shape.top = asked_count("TOP", setting.shape.top);
  setting.shape.layers = asked_count("LAYERS", setting.shape.layers);
  setting.regimes = static_cast<int>(asked_number("REGIMES", setting.regimes));
  setting.shape.vocabulary = 64 + setting.regimes;
  TrainerOptions options;
  Recipe& recipe = options.recipe = setting.recipe;
  recipe.horizon = recipe.schedule.horizon = asked_count("STEPS", recipe.horizon);
  recipe.schedule.peak = asked_number("RATE", recipe.schedule.peak);
  recipe.evaluation_every = asked_count("EVERY", 40);
  if (asked_number("TO_THE_END", 0) != 0) recipe.target = -1.0;
  options.seed = static_cast<std::uint64_t>(asked_number("SEED", 1));
  options.lanes = static_cast<int>(asked_number("LANES", 2));
  const auto workload = make_moe_workload(preset, setting, options.seed);
  const auto alone = make_self_group();
  PrintedGaps looks(recipe.batch);
  Trainer trainer(
      *workload, options, [](Dtype dtype) { return host_kernels(dtype); }, *alone);
  const TrainingRun run = trainer.run(looks);
  const CurvePoint& last = run.curve.back();
  std::cout << "floor " << last.floor << " target " << target << " active parameters "
            << moe_active_parameters(setting.shape) << " of " << trainer.parameter_count() << "\n";
  clock.print(run);
  CHECK(last.gap <= target);
  for (const TrainingCheck& check : run.checks) {
    INFO(check.check << ": " << check.text);
    CHECK(check.held);
  }
}

}  // namespace bench::training
