// What moe tiny learns, on text whose lowest loss is known.
#include <cstdlib>
#include <string>

#include "tests/support/catch.h"
#include "tests/training/study.h"
#include "training/workloads/moe.h"

namespace bench::training {
// By hand: training_tests "moe tiny reaches its target", with PRESET and what
// tests/training/study.h asks for.
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
  const auto workload = make_moe_workload(preset, setting, asked_seed());
  run_study(*workload, asked_recipe(setting.recipe), target, clock, [&](const Trainer& trainer) {
    return "active parameters " + std::to_string(moe_active_parameters(setting.shape)) + " of " +
           std::to_string(trainer.parameter_count());
  });
}

}  // namespace bench::training
