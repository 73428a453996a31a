// HSTU against finite differences, faults that these find, what a prediction may depend on, and the
// model's sizes.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/faulty_hstu.h"
#include "tests/training/faulty_kernels.h"
#include "tests/training/gradient_check.h"
#include "training/host/host_kernels.h"
#include "training/models/hstu.h"
#include "training/workloads/hstu.h"

namespace bench::training {
namespace {

constexpr std::int64_t kUsers = 2;
constexpr HstuShape kLittleHstu{2, 6, 2, 4, 5, 9, 7, 3, 4};

/// Histories of five and three events.
void fill_histories(const Hstu& model, const Lane& lane) {
  const auto at = [&](Var input) { return lane.view(input).as<std::int32_t>(); };
  at(model.lengths)[0] = 5;
  at(model.lengths)[1] = 3;
  for (std::int32_t row = 0; row < 10; ++row) {
    const std::int32_t event = row % 5, length = row < 5 ? 5 : 3;
    at(model.items)[row] = row * 4 % 9;
    at(model.previous)[row] = event > 0 ? (row - 1) * 4 % 9 : 0;
    at(model.actions)[row] = event > 0 ? row / 2 % 2 : kNoAction;
    at(model.groups)[row] = row / 5;
    at(model.times)[row] = event * event;
    at(model.labels)[row] = event < length ? row / 3 % 2 : kNoLabel;
  }
}

KernelSet kernels_of_hstu(Dtype dtype) { return host_kernels(dtype); }

GradientError check_hstu(const KernelFactory& kernels, bool recompute = false) {
  const Hstu model = make_hstu(kLittleHstu, kUsers, Dtype::f64, recompute);
  return check_gradients(
      *model.graph, model.losses, [&](const Lane& lane) { fill_histories(model, lane); }, kernels);
}

}  // namespace

TEST_CASE("the gradient of HSTU is correct") {
  for (const bool recompute : {false, true}) {
    const GradientError error = check_hstu(kernels_of_hstu, recompute);
    INFO("worst at " << error.parameter);
    CHECK(error.worst < 1e-6);
  }
}

TEST_CASE("finite differences find faults of HSTU") {
  const Fault faults[] = {{"times without gradient", replace_hstu<UntaughtTimes>},
                          {"gradients of other distances", replace_hstu<ShiftedDistances>},
                          {"half a SiLU", replace_hstu<HalfSilu>},
                          {"closed gates", replace_hstu<ClosedGates>}};
  for (const Fault& fault : faults) {
    INFO(fault.name);
    const GradientError error = check_hstu([&](Dtype dtype) {
      KernelSet set = host_kernels(dtype);
      fault.inject(set);
      return set;
    });
    CHECK(error.worst > 1e-3);
  }
}

TEST_CASE("a prediction depends on no later event, no other user and no label") {
  const Hstu model = make_hstu(kLittleHstu, kUsers, Dtype::f64);
  const Plan plan = make_plan(*model.graph, false);
  Weights weights(plan, 5);
  // Gains and biases start at one and zero, and would hide what reaches them.
  for (std::int64_t i = 0; i < weights.all().elements(); ++i)
    weights.all().as<double>()[i] += 0.2 * std::sin(static_cast<double>(i));
  Lane lane(plan, weights, kernels_of_hstu);
  const auto predicted = [&](Var input, std::int64_t row, std::int32_t value) {
    fill_histories(model, lane);
    if (input) lane.view(input).as<std::int32_t>()[row] = value;
    lane.forward({});
    const View made = lane.view(model.logits);
    return std::vector<double>(made.as<double>(), made.as<double>() + made.elements());
  };
  const auto before = predicted({}, 0, 0);
  CHECK(predicted(model.labels, 2, 1) == before);  // it is 0
  const auto changes_from = [&](Var input, std::int64_t row, std::int32_t value) {
    const auto after = predicted(input, row, value);
    for (std::int64_t other = 0; other < 10; ++other) {
      const auto i = static_cast<std::size_t>(other);
      const bool may = other >= row && other / 5 == row / 5;
      CHECK((after[i] != before[i]) == may);
    }
  };
  changes_from(model.items, 2, 7);    // event 2 of the first user: it and later ones
  changes_from(model.actions, 2, 0);  // the action on event 1
  changes_from(model.previous, 3, 1);
  // Beyond a history's end nothing is read: event 3 of the second user.
  for (const Var input : {model.items, model.previous, model.actions, model.times}) {
    const auto after = predicted(input, 8, 1);
    CHECK(std::equal(before.begin(), before.begin() + 8, after.begin()));
  }
}

TEST_CASE("HSTU has the expected parameters and FLOPs") {
  const HstuShape tiny = hstu_preset("tiny");
  const std::int64_t layer = 2 * 32 + 32 * 128 + 128 + 2 * (32 + 12) + 2 * 32 + 32 * 32 + 32;
  const std::int64_t embedded = 256 * 32 + 8 * 32 + 3 * 32 + 2 * 32 * 32 + 32;
  const std::int64_t head = 2 * 32 + 32 * 32 + 32 + 32 + 1;
  CHECK(make_hstu(tiny, 1).graph->parameter_count() == embedded + 2 * layer + head);
  const double products = 2 * 32 * 32 + 2 * (32 * 128 + 32 * 32) + 32 * 32 + 32;
  const double attention = 2 * 2 * 32 * 32;  // two layers, two products, of half the pairs each
  CHECK(hstu_flops_per_sample(tiny) == 3.0 * 32 * (2.0 * products + attention));
  CHECK(make_hstu(hstu_preset("dlrm_v4"), 1).graph->parameter_count() == 517'048'049);
  // The layers of MLPerf's model: an input projection and an output projection each.
  const HstuShape large = hstu_preset("dlrm_v4");
  CHECK(large.layers * (large.width * 4 * large.heads * large.head_dim +
                        large.heads * large.head_dim * large.width) ==
        3 * 5 * 512 * 512);
}

TEST_CASE("every preset of hstu has a recipe, and histories that fit its model") {
  for (const std::string& preset : hstu_presets()) {
    INFO(preset);
    const HstuSetting setting = hstu_setting(preset);
    const Recipe& recipe = setting.recipe;
    CHECK(recipe.batch % recipe.micro_batch == 0);
    CHECK(recipe.batch % recipe.device_micro_batch == 0);
    CHECK(recipe.horizon == recipe.schedule.horizon);
    CHECK(recipe.schedule.warmup <= recipe.horizon / 10);
    CHECK(recipe.target > 0.0);
    const TasteOptions law = setting.histories(1);
    CHECK(law.shape.events == setting.shape.events);
    CHECK(law.shape.items == setting.shape.items);
    CHECK(law.topics * 8 <= law.shape.items);
    // Whatever time passes within a history has a bucket of its own power of two; in tiny, whose
    // histories take some 500 units, the last one holds all from 1024 on.
    const auto longest = static_cast<std::int32_t>((law.shape.events - 1) * kLongestPause);
    if (preset != "tiny")
      CHECK(time_bucket(longest, setting.shape.buckets + 1) < setting.shape.buckets);
  }
  CHECK_THROWS_WITH(hstu_preset("huge"), Catch::Contains("huge"));
}

}  // namespace bench::training
