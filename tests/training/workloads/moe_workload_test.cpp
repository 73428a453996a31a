#include <cmath>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/fresh_lane.h"
#include "tests/training/token_sequence.h"
#include "training/host/host_kernels.h"
#include "training/workloads/moe.h"

namespace bench::training {
using Catch::Matchers::Contains;
namespace {

/// The quality of fresh weights on 15 evaluation sequences.
Quality untrained_quality(const MoeSetting& setting) {
  FreshLane fresh(make_moe_workload("tiny", setting, 1), 4);
  const auto evaluation = fresh.workload->evaluation(fresh.model);
  for (std::uint64_t first = 0; first < 16; first += 4) {
    fresh.workload->read(Split::evaluation, first, fresh.model, fresh.lane);
    fresh.lane.forward({});
    evaluation->add(fresh.lane, first, first == 12 ? 3 : 4);  // the last one only in part
  }
  const auto group = make_self_group();
  return evaluation->finish(*group);
}

}  // namespace

TEST_CASE("an untrained mixture of experts is log(vocabulary) above the law's own loss") {
  const MoeSetting setting = moe_setting("tiny");
  const Quality quality = untrained_quality(setting);
  const TokenFloor floor = floor_of(RegimeSource(setting.text(1)), 15);
  CHECK(quality.native == Approx(std::log(72.0)));
  CHECK(quality.floor == Approx(floor.mean));
  CHECK(quality.gap == Approx(std::log(72.0) - floor.mean));
  CHECK(part_of(quality, "base") == Approx(std::log(72.0) - floor.by_class[0]));
  CHECK(part_of(quality, "announcement") == Approx(std::log(72.0) - floor.by_class[1]));
}

TEST_CASE("the evaluation says how evenly experts are used, and what a capacity drops") {
  MoeSetting setting = moe_setting("tiny");
  const Quality dropless = untrained_quality(setting);
  CHECK(part_of(dropless, "dropped_share") == 0.0);
  CHECK(part_of(dropless, "expert_load_max_over_mean") > 1.0);
  CHECK(part_of(dropless, "expert_load_max_over_mean") < 4.0);
  CHECK(part_of(dropless, "expert_load_entropy") > 0.5);
  CHECK(part_of(dropless, "expert_load_entropy") < 1.0);
  CHECK(part_of(dropless, "balance_loss") > 1.0);
  setting.shape.capacity_factor = 0.5;  // 8 of 16 places of an expert with an equal load
  const Quality dropping = untrained_quality(setting);
  CHECK(part_of(dropping, "dropped_share") >= 0.5);
  CHECK(part_of(dropping, "dropped_share") < 0.9);
  CHECK(part_of(dropping, "expert_load_max_over_mean") <
        part_of(dropless, "expert_load_max_over_mean"));
}

TEST_CASE("a dense model has no routing to report and needs no kernels of experts") {
  const MoeSetting dense = moe_setting("tiny_dense");
  CHECK(std::isnan(part_of(untrained_quality(dense), "dropped_share")));
  CHECK_FALSE(make_moe_workload("tiny_dense", 1)->routes_to_experts());
  CHECK(make_moe_workload("tiny", 1)->routes_to_experts());
}

TEST_CASE("targets of changing text are the inputs shifted by one token") {
  const FreshLane fresh(make_moe_workload("tiny_dense", 1), 2);
  fresh.workload->read(Split::train, 7, fresh.model, fresh.lane);
  const auto* tokens = fresh.lane.view(fresh.model.inputs[0]).as<std::int32_t>();
  const auto* targets = fresh.lane.view(fresh.model.inputs[1]).as<std::int32_t>();
  for (int t = 0; t + 1 < 64; ++t) CHECK(targets[t] == tokens[t + 1]);
  CHECK(targets[63] != tokens[64]);  // the next sequence begins with an announcement
}

TEST_CASE("a moe batch checksum is the sum of its parts and depends on the seed") {
  const auto sum = [](std::uint64_t seed, std::uint64_t first, std::int64_t count) {
    return make_moe_workload("tiny", seed)->checksum(Split::train, first, count);
  };
  CHECK(sum(1, 0, 8) == sum(1, 0, 5) + sum(1, 5, 3));
  CHECK(sum(1, 0, 8) != sum(2, 0, 8));
}

TEST_CASE("moe trains on shorter sequences with a provisional target, and refuses files") {
  const auto shorter = make_workload("moe", "tiny", 1, 32);
  CHECK(shorter->items_per_sample() == 32);
  CHECK(shorter->recipe().target_source.empty());
  CHECK_FALSE(make_workload("moe", "tiny", 1, 64)->recipe().target_source.empty());
  CHECK_THROWS_WITH(make_workload("moe", "tiny", 1, 65), Contains("sequences of 65 tokens"));
  DataChoice files;
  files.train = {"tokens.bin"};
  CHECK_THROWS_WITH(make_workload("moe", "tiny", 1, 0, files), Contains("generated text only"));
  CHECK_THROWS_WITH(make_workload("moe", "tiny", 1, 0, {.vocabulary = 80}),
                    Contains("generated text only"));
  CHECK_THROWS_WITH(make_workload("moe", "huge", 1), Contains("moe has no preset 'huge'"));
}

}  // namespace bench::training
