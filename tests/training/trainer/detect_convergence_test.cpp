// What detect tiny learns, on scenes whose best answer is known.
#include <iostream>

#include "tests/support/catch.h"
#include "tests/training/study.h"
#include "training/host/host_kernels.h"
#include "training/trainer/trainer.h"
#include "training/workloads/detect.h"

namespace bench::training {

// By hand: training_tests "detect tiny reaches its target", with SEED, STEPS, RATE as asked.
TEST_CASE("detect tiny reaches its target", "[.evidence]") {
  const StudyClock clock;
  DetectSetting setting = detect_setting("tiny");
  const double target = setting.recipe.target.value();
  DetectShape& shape = setting.shape;
  shape.side = asked_count("SIDE", shape.side);
  shape.stem = asked_count("STEM", shape.stem);
  shape.pyramid = asked_count("PYRAMID", shape.pyramid);
  shape.head_layers = asked_count("HEADS", shape.head_layers);
  for (std::size_t i = 0; i < shape.stages.size(); ++i) {
    const std::string name = std::to_string(i);
    shape.stages[i].width = asked_count(("WIDTH" + name).c_str(), shape.stages[i].width);
    shape.stages[i].blocks = asked_count(("BLOCKS" + name).c_str(), shape.stages[i].blocks);
  }
  shape.anchor_size = asked_number("ANCHOR", shape.anchor_size);
  shape.loss.box_beta = asked_number("BETA", shape.loss.box_beta);
  shape.loss.box_weight = asked_number("BOX", shape.loss.box_weight);
  SceneLaw& law = setting.law;
  law.most = static_cast<int>(asked_count("MOST", law.most));
  law.smallest = asked_number("SMALLEST", law.smallest);
  law.largest = asked_number("LARGEST", law.largest);
  law.contrast = asked_number("CONTRAST", law.contrast);
  law.noise = asked_number("NOISE", law.noise);
  law.background = asked_number("BACKGROUND", law.background);
  law.jitter = asked_number("JITTER", law.jitter);
  setting.adamw.beta2 = asked_number("BETA2", setting.adamw.beta2);
  setting.adamw.decay = asked_number("DECAY", setting.adamw.decay);
  TrainerOptions options;
  Recipe& recipe = options.recipe = setting.recipe;
  recipe.batch = asked_count("BATCH", recipe.batch);
  recipe.micro_batch = asked_count("MICRO", recipe.micro_batch);
  recipe.horizon = recipe.schedule.horizon = asked_count("STEPS", recipe.horizon);
  recipe.schedule.warmup = asked_count("WARMUP", recipe.schedule.warmup);
  recipe.schedule.peak = asked_number("RATE", recipe.schedule.peak);
  recipe.clip = asked_number("CLIP", recipe.clip);
  recipe.evaluation_every = asked_count("EVERY", recipe.evaluation_every);
  recipe.evaluation_samples = asked_count("JUDGED", recipe.evaluation_samples);
  if (asked_number("TO_THE_END", 0) != 0) recipe.target = -1.0;
  options.seed = static_cast<std::uint64_t>(asked_number("SEED", 1));
  options.lanes = static_cast<int>(asked_number("LANES", 2));
  const auto workload = make_detect_workload("tiny", setting, options.seed);
  const auto alone = make_self_group();
  PrintedGaps looks(recipe.batch);
  Trainer trainer(
      *workload, options, [](Dtype dtype) { return host_kernels(dtype); }, *alone);
  const TrainingRun run = trainer.run(looks);
  const CurvePoint& last = run.curve.back();
  std::cout << "floor " << last.floor << " target " << target << " parameters "
            << trainer.parameter_count() << " flops " << workload->flops_per_sample() << "\n";
  clock.print(run);
  CHECK(last.gap <= target);
  for (const TrainingCheck& check : run.checks) {
    INFO(check.check << ": " << check.text);
    CHECK(check.held);
  }
}

}  // namespace bench::training
