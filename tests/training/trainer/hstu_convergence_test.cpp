// What hstu tiny learns, on histories whose best predictions are known.
#include <cmath>
#include <string>

#include "tests/support/catch.h"
#include "tests/training/study.h"
#include "training/workloads/hstu.h"

namespace bench::training {

// By hand: training_tests "hstu tiny reaches its target", with what tests/training/study.h asks
// for, and the sizes of the model and the law.
TEST_CASE("hstu tiny reaches its target", "[.evidence]") {
  const StudyClock clock;
  HstuSetting setting = hstu_setting("tiny");
  const double target = setting.recipe.target.value();
  HstuShape& shape = setting.shape;
  shape.layers = asked_count("LAYERS", shape.layers);
  shape.width = asked_count("WIDTH", shape.width);
  shape.heads = asked_count("HEADS", shape.heads);
  shape.head_dim = asked_count("HEAD_DIM", shape.head_dim);
  shape.columns = asked_count("COLUMNS", shape.columns);
  shape.items = asked_count("ITEMS", shape.items);
  shape.buckets = asked_count("BUCKETS", shape.buckets);
  TasteOptions& law = setting.law;
  law.law = static_cast<std::uint64_t>(asked_count("LAW", static_cast<std::int64_t>(law.law)));
  law.affinity = asked_number("AFFINITY", law.affinity);
  law.rate = asked_number("CHANGES", law.rate);
  law.pause = asked_number("PAUSE", law.pause);
  setting.adamw.beta2 = asked_number("BETA2", setting.adamw.beta2);
  setting.adamw.decay = asked_number("DECAY", setting.adamw.decay);
  const auto workload = make_hstu_workload("tiny", setting, asked_seed());
  run_study(*workload, asked_recipe(setting.recipe), target, clock, [&](const Trainer& trainer) {
    return "parameters " + std::to_string(trainer.parameter_count()) + " flops " +
           std::to_string(std::llround(workload->flops_per_sample()));
  });
}

}  // namespace bench::training
