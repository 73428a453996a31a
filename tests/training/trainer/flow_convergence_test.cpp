// What flow tiny learns, on images whose law is known.
#include <iostream>

#include "tests/support/catch.h"
#include "tests/training/study.h"
#include "training/host/host_kernels.h"
#include "training/trainer/trainer.h"
#include "training/workloads/flow.h"

namespace bench::training {

// By hand: training_tests "flow tiny reaches its target", with SEED, STEPS, RATE as asked.
TEST_CASE("flow tiny reaches its target", "[.evidence]") {
  const StudyClock clock;
  FlowSetting setting = flow_setting("tiny");
  const double target = setting.recipe.target.value();
  FlowShape& shape = setting.shape;
  shape.double_blocks = asked_count("DOUBLE", shape.double_blocks);
  shape.single_blocks = asked_count("SINGLE", shape.single_blocks);
  shape.hidden = asked_count("HIDDEN", shape.hidden);
  shape.width = asked_count("WIDTH", shape.width);
  shape.time_scale = asked_number("TIME_SCALE", shape.time_scale);
  shape.rope_theta = asked_number("THETA", shape.rope_theta);
  ImageLaw& law = setting.law;
  law.colours = static_cast<int>(asked_count("COLOURS", law.colours));
  law.shapes = static_cast<int>(asked_count("SHAPES", law.shapes));
  law.places = static_cast<int>(asked_count("PLACES", law.places));
  law.styles = static_cast<int>(asked_count("STYLES", law.styles));
  law.contrast = asked_number("CONTRAST", law.contrast);
  law.texture = asked_number("TEXTURE", law.texture);
  law.sigma = asked_number("SIGMA", law.sigma);
  shape.vocabulary = law.colours + law.shapes + law.places * law.places + 1;
  setting.adamw.beta2 = asked_number("BETA2", setting.adamw.beta2);
  TrainerOptions options;
  Recipe& recipe = options.recipe = setting.recipe;
  recipe.batch = asked_count("BATCH", recipe.batch);
  recipe.micro_batch = asked_count("MICRO", recipe.micro_batch);
  recipe.horizon = recipe.schedule.horizon = asked_count("STEPS", recipe.horizon);
  recipe.schedule.warmup = asked_count("WARMUP", recipe.schedule.warmup);
  recipe.schedule.peak = asked_number("RATE", recipe.schedule.peak);
  recipe.evaluation_every = asked_count("EVERY", recipe.evaluation_every);
  recipe.evaluation_samples = asked_count("JUDGED", recipe.evaluation_samples);
  if (asked_number("TO_THE_END", 0) != 0) recipe.target = -1.0;
  options.seed = static_cast<std::uint64_t>(asked_number("SEED", 1));
  options.lanes = static_cast<int>(asked_number("LANES", 2));
  const auto workload = make_flow_workload("tiny", setting, options.seed);
  const auto alone = make_self_group();
  PrintedGaps looks(recipe.batch);
  Trainer trainer(
      *workload, options, [](Dtype dtype) { return host_kernels(dtype); }, *alone);
  const TrainingRun run = trainer.run(looks);
  const CurvePoint& last = run.curve.back();
  std::cout << "floor " << last.floor << " target " << target << " parameters "
            << trainer.parameter_count() << "\n";
  clock.print(run);
  CHECK(last.gap <= target);
  for (const TrainingCheck& check : run.checks) {
    INFO(check.check << ": " << check.text);
    CHECK(check.held);
  }
}

}  // namespace bench::training
