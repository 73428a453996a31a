// What image tiny and tiny_vit learn, on pictures whose best accuracy is known.
#include <cmath>
#include <string>

#include "tests/support/catch.h"
#include "tests/training/study.h"
#include "training/workloads/image.h"

namespace bench::training {

// By hand: training_tests "image tiny reaches its target", with what tests/training/study.h asks
// for; PRESET=tiny_vit for the transformer.
TEST_CASE("image tiny reaches its target", "[.evidence]") {
  const StudyClock clock;
  const char* asked = std::getenv("PRESET");
  const std::string preset = asked ? asked : "tiny";
  ImageSetting setting = image_setting(preset);
  const double target = setting.recipe.target.value();
  setting.shape.side = asked_count("SIDE", setting.shape.side);
  setting.shape.smoothing = asked_number("SMOOTHING", setting.shape.smoothing);
  PictureLaw& law = setting.law;
  law.outlines = static_cast<int>(asked_count("OUTLINES", law.outlines));
  law.textures = static_cast<int>(asked_count("TEXTURES", law.textures));
  law.side = static_cast<int>(asked_count("STORED", law.side));
  law.smallest = asked_number("SMALLEST", law.smallest);
  law.largest = asked_number("LARGEST", law.largest);
  law.finer = asked_number("FINER", law.finer);
  law.contrast = asked_number("CONTRAST", law.contrast);
  law.noise = asked_number("NOISE", law.noise);
  law.background = asked_number("BACKGROUND", law.background);
  law.wrong = asked_number("WRONG", law.wrong);
  setting.least_area = asked_number("AREA", setting.least_area);
  if (auto* sgd = std::get_if<SgdOptions>(&setting.optimizer)) {
    sgd->momentum = asked_number("MOMENTUM", sgd->momentum);
    sgd->decay = asked_number("DECAY", sgd->decay);
  } else {
    auto& adamw = std::get<AdamwOptions>(setting.optimizer);
    adamw.beta2 = asked_number("BETA2", adamw.beta2);
    adamw.decay = asked_number("DECAY", adamw.decay);
  }
  if (auto* residual = std::get_if<ResidualNetwork>(&setting.shape.network)) {
    residual->stem = asked_count("STEM", residual->stem);
    for (std::size_t i = 0; i < residual->stages.size(); ++i) {
      const std::string name = std::to_string(i);
      auto& stage = residual->stages[i];
      stage.width = asked_count(("WIDTH" + name).c_str(), stage.width);
      stage.blocks = asked_count(("BLOCKS" + name).c_str(), stage.blocks);
    }
  } else {
    auto& transformer = std::get<VisionTransformer>(setting.shape.network);
    transformer.layers = asked_count("LAYERS", transformer.layers);
    transformer.width = asked_count("WIDTH", transformer.width);
    transformer.hidden = asked_count("HIDDEN", transformer.hidden);
    transformer.heads = asked_count("HEADS", transformer.heads);
    transformer.patch = asked_count("PATCH", transformer.patch);
  }
  const auto workload = make_image_workload(preset, setting, asked_seed());
  run_study(*workload, asked_recipe(setting.recipe), target, clock, [&](const Trainer& trainer) {
    return "parameters " + std::to_string(trainer.parameter_count()) + " flops " +
           std::to_string(std::llround(workload->flops_per_sample()));
  });
}

}  // namespace bench::training
