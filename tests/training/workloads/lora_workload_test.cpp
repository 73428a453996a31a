// Presets of lora, its samples, its base, and what it refuses.
#include "core/error.h"
#include "tests/support/catch.h"
#include "training/workloads/lora.h"

namespace bench::training {

using Catch::Matchers::Contains;

TEST_CASE("every preset of lora has recipes that fit its model and its base") {
  for (const std::string& preset : lora_presets()) {
    INFO(preset);
    const LoraSetting setting = lora_setting(preset);
    const Recipe &recipe = setting.training.recipe, &base = setting.base.recipe;
    CHECK(recipe.batch % recipe.micro_batch == 0);
    CHECK(recipe.horizon == recipe.schedule.horizon);
    CHECK(recipe.evaluation_every * 20 <= recipe.horizon);
    CHECK(recipe.target > 0.0);
    CHECK(recipe.target_source.empty() == (preset != "tiny"));
    CHECK(setting.shape.rank >= 2 * kDialectRank);
    CHECK_FALSE(base.target.has_value());
    CHECK(base.evaluation_every == base.horizon);
    CHECK(base.schedule.horizon == base.horizon);
  }
}

TEST_CASE("lora logs MLPerf's keys, and takes a third fewer FLOPs than pretraining") {
  const auto lora = make_workload("lora", "70b", 1);
  CHECK(lora->optimizer_options() == Json{{"opt_name", "adamw"},
                                          {"opt_adamw_beta_1", 0.9},
                                          {"opt_adamw_beta_2", 0.999},
                                          {"opt_adamw_epsilon", 1e-8},
                                          {"opt_adamw_weight_decay", 1e-4},
                                          {"max_sequence_length", 8192},
                                          {"lora_rank", 16},
                                          {"lora_alpha", 32}});
  const double llm = llm_flops_per_token(lora_preset("70b").base) * 8192.0;
  CHECK(lora->flops_per_sample() / llm > 0.66);
  CHECK(lora->flops_per_sample() / llm < 0.70);
}

TEST_CASE("all seeds of lora share base and evaluation samples, and no training sample") {
  const auto one = make_lora_workload("tiny", 1), other = make_lora_workload("tiny", 2);
  const auto base = make_base_workload("lora", "tiny");
  CHECK(one->checksum(Split::evaluation, 0, 32) == other->checksum(Split::evaluation, 0, 32));
  CHECK(one->checksum(Split::train, 0, 32) != other->checksum(Split::train, 0, 32));
  CHECK(one->checksum(Split::evaluation, 0, 32) != base->checksum(Split::evaluation, 0, 32));
  CHECK(base->name() == "llm");
  CHECK(base->items_per_sample() == one->items_per_sample());
  CHECK(make_base_workload("llm", "tiny") == nullptr);
  CHECK(make_base_workload("dlrm", "tiny") == nullptr);
}

TEST_CASE("lora trains on shorter sequences, and refuses files and longer ones") {
  const auto lora = make_workload("lora", "tiny", 1, 16);
  CHECK(lora->items_per_sample() == 16);
  CHECK(lora->recipe().target_source.empty());
  CHECK(make_base_workload("lora", "tiny", 16)->items_per_sample() == 16);
  CHECK_THROWS_WITH(make_workload("lora", "tiny", 1, 65),
                    Contains("lora tiny does not support sequences of 65 tokens"));
  CHECK_THROWS_WITH(make_workload("lora", "gpt2", 1), Contains("lora has no preset 'gpt2'"));
  DataChoice files;
  files.train = {"tokens.bin"};
  CHECK_THROWS_WITH(make_workload("lora", "tiny", 1, 0, files), Contains("reads no files"));
  CHECK_THROWS_WITH(make_workload("lora", "tiny", 1, 0, {.vocabulary = 80}),
                    Contains("vocabulary applies only to token files"));
}

}  // namespace bench::training
