// What detect tiny learns, on scenes whose best answer is known.
#include <cmath>
#include <string>

#include "tests/support/catch.h"
#include "tests/training/study.h"
#include "training/workloads/detect.h"

namespace bench::training {

// By hand: training_tests "detect tiny reaches its target", with what tests/training/study.h asks
// for.
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
  const auto workload = make_detect_workload("tiny", setting, asked_seed());
  run_study(*workload, asked_recipe(setting.recipe), target, clock, [&](const Trainer& trainer) {
    return "parameters " + std::to_string(trainer.parameter_count()) + " flops " +
           std::to_string(std::llround(workload->flops_per_sample()));
  });
}

}  // namespace bench::training
