// Two towers against finite differences, faults that these find, and the same training on one rank
// and on two.
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/gradient_check.h"
#include "tests/training/two_tower_training.h"
#include "training/host/host_kernels.h"
#include "training/models/two_tower.h"
#include "training/workloads/two_tower.h"

namespace bench::training {
namespace {

const TwoTowerShape kLittleTowers{3, 2, 5, {9, 7}, {8}, 4};

GradientError check_towers(const KernelFactory& kernels) {
  TwoTower model = make_two_tower(kLittleTowers, 10, Dtype::f64);
  const auto fill = [&](const Lane& lane) {
    double phase = 0.0;
    for (const Var input : {model.embeddings, model.corrections})
      for (std::int64_t i = 0; i < lane.view(input).elements(); ++i)
        lane.view(input).as<double>()[i] = std::sin(phase += 0.7);
    auto* targets = lane.view(model.targets).as<std::int32_t>();
    std::iota(targets, targets + 10, 0);
  };
  return check_gradients(*model.graph, model.losses, fill, kernels);
}

/// Of the scores' gradient, drops the rows of the second half of the users for the items.
class HalvingGemm final : public GemmKernels {
 public:
  explicit HalvingGemm(std::unique_ptr<GemmKernels> real) : real_(std::move(real)) {}
  void multiply(const GemmOptions& product, View a, View b, View c) override {
    if (product.transpose_a && a.rows == a.columns) a.rows = b.rows = a.rows / 2;
    real_->multiply(product, a, b, c);
  }

 private:
  std::unique_ptr<GemmKernels> real_;
};

}  // namespace

TEST_CASE("the gradients of two towers are correct") {
  for (const std::string_view isa : host_kernel_isas())
    CHECK(check_towers([isa](Dtype dtype) { return host_kernels(dtype, isa); }).worst < 1e-6);
}

TEST_CASE("half of the items' gradient lost is found by finite differences") {
  const auto faulty = [](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    set.gemm = std::make_unique<HalvingGemm>(std::move(set.gemm));
    return set;
  };
  CHECK(check_towers(faulty).worst > 1e-3);
}

TEST_CASE("the user's vector depends on no feature of the item, and the other way round") {
  TwoTower model = make_two_tower(kLittleTowers, 4, Dtype::f64);
  const Plan plan = make_plan(*model.graph, false);
  const Weights weights(plan, 5);
  Lane lane(plan, weights, [](Dtype dtype) { return host_kernels(dtype); });
  const std::int64_t of_user = kLittleTowers.user_tables * kLittleTowers.width;
  const auto vectors_of = [&](double users, double items) {
    const View lookups = lane.view(model.embeddings);
    for (std::int64_t i = 0; i < lookups.elements(); ++i)
      lookups.as<double>()[i] = i % lookups.columns < of_user ? users : items;
    auto* targets = lane.view(model.targets).as<std::int32_t>();
    std::iota(targets, targets + 4, 0);
    lane.forward({});
    const View vectors = lane.view(model.vectors);
    const double* row = vectors.as<double>();
    return std::pair(std::vector(row, row + 4), std::vector(row + 4, row + 8));
  };
  const auto before = vectors_of(0.3, 0.4);
  const auto other_item = vectors_of(0.3, -0.9), other_user = vectors_of(-0.8, 0.4);
  CHECK(other_item.first == before.first);
  CHECK(other_item.second != before.second);
  CHECK(other_user.first != before.first);
  CHECK(other_user.second == before.second);
}

TEST_CASE("two towers have the expected parameters and FLOPs") {
  const TwoTowerShape tiny = two_tower_preset("tiny");
  CHECK(make_two_tower(tiny, 2).graph->parameter_count() == 65 * 64 + 65 * 16 + 33 * 64 + 65 * 16);
  CHECK(two_tower_flops_per_sample(tiny, 512) ==
        6.0 * (64 * 64 + 64 * 16 + 32 * 64 + 64 * 16 + 512 * 16));
  CHECK_THROWS_WITH(two_tower_preset("huge"), Catch::Contains("huge"));
  for (const std::string& preset : two_tower_presets()) {
    const TwoTowerShape shape = two_tower_preset(preset);
    const TwoTowerSetting setting = two_tower_setting(preset);
    CHECK(static_cast<std::size_t>(shape.user_tables) == setting.interactions.user_rows.size());
    CHECK(shape.item_tables == 2);
    CHECK(setting.recipe.evaluation_samples >= setting.interactions.items);
  }
}

TEST_CASE("two ranks train two towers like one up to rounding, and find the same recall") {
  const auto train_on = [](int ranks) {
    std::vector<TrainedTowers> all(static_cast<std::size_t>(ranks));
    run_ranks(ranks, [&](Group& group) {
      TrainerOptions options = two_tower_training(20);
      options.recipe.batch = 512;
      options.recipe.micro_batch = 128;
      options.lanes = 1;
      all[static_cast<std::size_t>(group.rank())] = train_two_tower(3, options, group);
    });
    for (const TrainedTowers& one : all) {
      CHECK(one.run.curve.back().gap == all[0].run.curve.back().gap);
      CHECK(one.tables == all[0].tables);
      for (const TrainingCheck& check : one.run.checks) {
        INFO(check.check << ": " << check.text);
        CHECK(check.held);
      }
    }
    return all[0].run;
  };
  const TrainingRun one = train_on(1), two = train_on(2);
  CHECK(one.steps.back().loss < one.steps.front().loss - 0.02);
  REQUIRE(two.steps.size() == one.steps.size());
  for (std::size_t step = 0; step < one.steps.size(); ++step)
    CHECK(two.steps[step].loss == Approx(one.steps[step].loss).epsilon(1e-5));
  CHECK(two.curve.back().native == Approx(one.curve.back().native).margin(1e-4));
  CHECK(two.curve.back().floor == Approx(one.curve.back().floor).epsilon(1e-12));
}

TEST_CASE("a two_tower batch checksum is the sum of its parts and depends on the seed") {
  const auto sum = [](std::uint64_t seed, std::uint64_t first, std::int64_t count) {
    return make_two_tower_workload("tiny", seed)->checksum(Split::train, first, count);
  };
  CHECK(sum(1, 0, 64) == sum(1, 0, 40) + sum(1, 40, 24));
  CHECK(sum(1, 0, 64) != sum(2, 0, 64));
  CHECK(sum(1, 0, 64) != sum(1, 64, 64));
}

TEST_CASE("two_tower refuses files, tokens and sequences") {
  using Catch::Matchers::Contains;
  DataChoice files;
  files.train = {"day_0.txt"};
  CHECK_THROWS_WITH(make_workload("two_tower", "tiny", 1, 0, files), Contains("reads no files"));
  CHECK_THROWS_WITH(make_workload("two_tower", "tiny", 1, 0, {.vocabulary = 5}),
                    Contains("no use for vocabulary"));
  CHECK_THROWS_WITH(make_workload("two_tower", "tiny", 1, 32), Contains("has no sequences"));
}

}  // namespace bench::training
