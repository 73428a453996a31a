// What flow tiny learns, on images whose law is known.
#include <string>

#include "tests/support/catch.h"
#include "tests/training/study.h"
#include "training/workloads/flow.h"

namespace bench::training {

// By hand: training_tests "flow tiny reaches its target", with what tests/training/study.h asks
// for.
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
  const auto workload = make_flow_workload("tiny", setting, asked_seed());
  run_study(*workload, asked_recipe(setting.recipe), target, clock, [&](const Trainer& trainer) {
    return "parameters " + std::to_string(trainer.parameter_count());
  });
}

}  // namespace bench::training
