// Presets of grpo, its prompts, its baseline, and what it refuses.
#include <cmath>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/models/llm.h"
#include "training/workloads/grpo.h"

namespace bench::training {

using Catch::Matchers::Contains;

TEST_CASE("every preset of grpo has recipes that fit its model and its base") {
  for (const std::string& preset : grpo_presets()) {
    INFO(preset);
    const GrpoSetting setting = grpo_setting(preset);
    const Recipe &recipe = setting.recipe, &base = setting.base.recipe;
    CHECK(recipe.batch % recipe.micro_batch == 0);
    CHECK(recipe.horizon == recipe.schedule.horizon);
    CHECK(recipe.evaluation_every * 20 <= recipe.horizon);
    CHECK(recipe.target.value() > 0.0);
    CHECK(recipe.target_source.empty() == (preset != "tiny"));
    CHECK(setting.shape.vocabulary == Programs(setting.programs).vocabulary());
    CHECK(setting.shape.sequence == setting.programs.tokens() - 1);
    CHECK_FALSE(base.target.has_value());
    CHECK(base.evaluation_every == base.horizon);
    // A perfect imitation answers plain programs rightly about three times in ten.
    CHECK(std::pow(1.0 - setting.programs.noise, setting.programs.length) ==
          Approx(0.28).margin(0.03));
  }
}

TEST_CASE("grpo logs the keys of MLPerf's rules, and counts generated tokens") {
  const auto grpo = make_workload("grpo", "tiny", 1);
  CHECK(grpo->optimizer_options() == Json{{"opt_name", "adamw"},
                                          {"opt_adamw_beta_1", 0.9},
                                          {"opt_adamw_beta_2", 0.98},
                                          {"opt_adamw_epsilon", 1e-8},
                                          {"opt_adamw_weight_decay", 0.0},
                                          {"max_sequence_length", 14},
                                          {"num_generations_per_prompt", 8},
                                          {"generation_training_rollout_temperature", 1.0},
                                          {"kl_weight", 0.0}});
  CHECK(grpo->logged_samples() == 8);
  CHECK(grpo->item() == "token");
  CHECK(grpo->items_per_sample() == 8 * 6);
  // Update, reference and generation: 3 + 1 passes over 8 x 13 tokens, one over 8 + 8 x 5.
  const double forward = llm_flops_per_token(grpo_setting("tiny").shape) / 3.0;
  CHECK(grpo->flops_per_sample() == Approx(forward * (4 * 8 * 13 + 8 + 8 * 5)));
}

TEST_CASE("all seeds of grpo share base and evaluation prompts, and no order of training prompts") {
  const auto one = make_grpo_workload("tiny", 1), other = make_grpo_workload("tiny", 2);
  CHECK(one->checksum(Split::evaluation, 0, 32) == other->checksum(Split::evaluation, 0, 32));
  CHECK(one->checksum(Split::train, 0, 32) != other->checksum(Split::train, 0, 32));
  CHECK(one->source_hash(Split::train, 3) != one->source_hash(Split::train, 4));
  const auto base = make_base_workload("grpo", "tiny");
  CHECK(base->name() == "llm");
  CHECK(base->items_per_sample() == 13);
}

TEST_CASE("the baseline of grpo is the success of a perfect imitation, by its parts") {
  const auto [name, gap] = make_grpo_workload("tiny", 1)->baselines().front();
  CHECK(name == "imitation");
  // Half of the programs are plain, a third misleading (shown rightly in 3 of 10), a sixth
  // ambiguous (a coin of 1/4, which demonstrations and verifier toss independently).
  const double clean = std::pow(0.8, 6);
  const double passes = (0.5 + 0.3 / 3.0 + (0.75 * 0.75 + 0.25 * 0.25) / 6.0) * clean;
  CHECK(gap == Approx(0.5 + 1.0 / 3.0 + 0.75 / 6.0 - passes).margin(0.02));
}

TEST_CASE("grpo repeats prompts if asked, and refuses files and sequences") {
  const auto repeated = make_workload("grpo", "tiny", 1, 0, {.samples = 100});
  CHECK(repeated->repeats());
  CHECK(repeated->data().at("samples") == 100);
  CHECK(repeated->source_hash(Split::train, 0).has_value());
  CHECK_FALSE(make_workload("grpo", "tiny", 1)->repeats());
  DataChoice files;
  files.train = {"tokens.bin"};
  CHECK_THROWS_WITH(make_workload("grpo", "tiny", 1, 0, files), Contains("need a verifier"));
  CHECK_THROWS_WITH(make_workload("grpo", "tiny", 1, 16), Contains("grpo has no sequences"));
  CHECK_THROWS_WITH(make_workload("grpo", "gpt2", 1), Contains("grpo has no preset 'gpt2'"));
}

}  // namespace bench::training
