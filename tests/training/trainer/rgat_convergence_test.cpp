// What rgat tiny learns, on a graph whose best predictions are known.
#include <cmath>
#include <string>

#include "tests/support/catch.h"
#include "tests/training/study.h"
#include "training/workloads/rgat.h"

namespace bench::training {

// By hand: training_tests "rgat tiny reaches its target", with what tests/training/study.h asks
// for, and the sizes of the model and the law.
TEST_CASE("rgat tiny reaches its target", "[.evidence]") {
  const StudyClock clock;
  RgatSetting setting = rgat_setting("tiny");
  const double target = setting.recipe.target.value();
  RgatShape& shape = setting.shape;
  shape.hidden = asked_count("HIDDEN", shape.hidden);
  shape.heads = asked_count("HEADS", shape.heads);
  shape.samples.classes = asked_count("CLASSES", shape.samples.classes);
  shape.samples.columns = asked_count("COLUMNS", shape.samples.columns);
  for (const std::size_t depth : {0U, 1U})
    shape.samples.fan_outs.at(depth) =
        asked_count(depth == 0 ? "FAN_OUT" : "NEXT_FAN_OUT", shape.samples.fan_outs[depth]);
  PaperGraphOptions& law = setting.law;
  law.law = static_cast<std::uint64_t>(asked_count("LAW", static_cast<std::int64_t>(law.law)));
  law.telling = shape.samples.columns - 1;
  law.distance = asked_number("DISTANCE", law.distance);
  law.reliable = asked_number("RELIABLE", law.reliable);
  const double scale = asked_number("STRENGTH", 1.0);
  for (double& strength : law.strengths) strength *= scale;
  setting.adamw.beta2 = asked_number("BETA2", setting.adamw.beta2);
  setting.adamw.decay = asked_number("DECAY", setting.adamw.decay);
  const auto workload = make_rgat_workload("tiny", setting, asked_seed());
  run_study(*workload, asked_recipe(setting.recipe), target, clock, [&](const Trainer& trainer) {
    return "parameters " + std::to_string(trainer.parameter_count()) + " flops " +
           std::to_string(std::llround(workload->flops_per_sample()));
  });
}

}  // namespace bench::training
