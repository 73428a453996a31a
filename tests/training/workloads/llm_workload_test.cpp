#include <cmath>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/token_sequence.h"
#include "training/host/host_kernels.h"
#include "training/models/llm.h"
#include "training/sources/grammar.h"
#include "training/workloads/llm.h"

namespace bench::training {
using Catch::Matchers::Contains;
namespace {

/// A lane of evaluation over fresh weights.
struct TinyLane {
  std::unique_ptr<Workload> workload = make_llm_workload("tiny", 1);
  Model model = workload->model(4, Dtype::f32, false);
  Plan plan = make_plan(*model.graph, false);
  Weights weights{plan, 1};
  Lane lane{plan, weights, [](Dtype d) { return host_kernels(d); }};
};

}  // namespace

TEST_CASE("unknown workloads and presets are refused, listing the known ones") {
  CHECK_THROWS_WITH(make_workload("lm", "tiny", 1), Contains("unknown workload 'lm'"));
  CHECK_THROWS_WITH(make_workload("llm", "tinny", 1), Contains("llm has no preset 'tinny'"));
  try {
    make_workload("llm", "tinny", 1);
  } catch (const Error& error) {
    CHECK_THAT(error.hint(), Contains("gpt2") && Contains("Did you mean 'tiny'?"));
  }
}

TEST_CASE("every preset of llm has a recipe that fits its model") {
  for (const std::string& preset : llm_presets()) {
    INFO(preset);
    const Recipe recipe = llm_training(preset).recipe;
    CHECK(recipe.batch % recipe.micro_batch == 0);
    CHECK(recipe.horizon == recipe.schedule.horizon);
    CHECK(recipe.schedule.warmup < recipe.horizon / 5);
    CHECK(recipe.evaluation_every * 20 <= recipe.horizon);
    CHECK(recipe.target > 0.0);
  }
}

TEST_CASE("llm trains on shorter sequences with a provisional target") {
  const auto gpt2 = make_workload("llm", "gpt2", 1, 64);
  CHECK(gpt2->items_per_sample() == 64);
  const Model model = gpt2->model(2, Dtype::f32, false);
  CHECK(model.inputs[0].shape().rows() == 2 * 64);
  CHECK(model.graph->parameter_count() == 124'439'808 - (1024 - 64) * 768);  // learnt positions
  CHECK(gpt2->baselines().empty());
  const auto tiny = make_llm_workload("tiny", 1, 32);
  CHECK(tiny->recipe().target_source.empty());
  CHECK_FALSE(make_llm_workload("tiny", 1, 64)->recipe().target_source.empty());
  CHECK(tiny->flops_per_sample() < make_llm_workload("tiny", 1)->flops_per_sample() / 2);
  CHECK_THROWS_WITH(make_workload("llm", "tiny", 1, 65), Contains("sequences of 65 tokens"));
  CHECK_THROWS_WITH(make_workload("llm", "tiny", 1, 1), Contains("sequences of 1 tokens"));
  CHECK_THROWS_WITH(make_workload("dlrm", "tiny", 1, 32), Contains("dlrm has no sequences"));
}

TEST_CASE("targets are the inputs shifted by one token") {
  TinyLane tiny;
  tiny.workload->read(Split::train, 7, tiny.model, tiny.lane);
  const auto* tokens = tiny.lane.view(tiny.model.inputs[0]).as<std::int32_t>();
  const auto* targets = tiny.lane.view(tiny.model.inputs[1]).as<std::int32_t>();
  for (int t = 0; t + 1 < 64; ++t) CHECK(targets[t] == tokens[t + 1]);
}

TEST_CASE("seeds change training samples but not evaluation samples") {
  const auto one = make_llm_workload("tiny", 1), two = make_llm_workload("tiny", 2);
  CHECK(one->checksum(Split::train, 0, 8) != two->checksum(Split::train, 0, 8));
  CHECK(one->checksum(Split::evaluation, 0, 8) == two->checksum(Split::evaluation, 0, 8));
  CHECK(one->checksum(Split::train, 0, 4) + one->checksum(Split::train, 4, 4) ==
        one->checksum(Split::train, 0, 8));
}

TEST_CASE("an untrained model is log(vocabulary) above the oracle's floor") {
  TinyLane tiny;
  const auto evaluation = tiny.workload->evaluation(tiny.model);
  for (std::uint64_t first = 0; first < 16; first += 4) {
    tiny.workload->read(Split::evaluation, first, tiny.model, tiny.lane);
    tiny.lane.forward({});
    evaluation->add(tiny.lane, first, first == 12 ? 3 : 4);  // the last one only in part
  }
  const auto group = make_self_group();
  const Quality quality = evaluation->finish(*group);
  const TokenFloor floor = floor_of(GrammarSource(GrammarOptions{}), 15);
  CHECK(quality.native == Approx(std::log(64.0)));
  CHECK(quality.floor == Approx(floor.mean));
  CHECK(quality.gap == Approx(std::log(64.0) - floor.mean));
  REQUIRE(quality.parts.size() == 3);
  CHECK(quality.parts[2].first == "copy");
  CHECK(quality.parts[2].second == Approx(std::log(64.0) - floor.by_class[2]));
}

}  // namespace bench::training
