// Mixture-of-experts models against finite differences, faults that these find, and what a token's
// loss may depend on.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/faulty_experts.h"
#include "tests/training/faulty_kernels.h"
#include "tests/training/gradient_check.h"
#include "training/host/host_kernels.h"
#include "training/models/moe.h"
#include "training/workloads/moe.h"

namespace bench::training {
namespace {

MoeShape little_moe() {
  MoeShape shape{2, 16, 4, 2, 6, 5, 2, 7, 9, 13};
  shape.shared_hidden = 5;
  shape.shifted_kv_heads = 1;
  shape.capacity_factor = 1.25;
  return shape;
}

GradientError check_moe(const KernelFactory& kernels, bool recompute = false) {
  Moe model = make_moe(little_moe(), 3, Dtype::f64, recompute);
  const auto fill = [&](const Lane& lane) {
    fill_ids(lane.view(model.tokens), 13, 1);
    fill_ids(lane.view(model.targets), 13, 2);
  };
  return check_gradients(*model.graph, model.losses, fill, kernels);
}

/// Each position's loss, before and after the tokens from position `changed` on were replaced, and
/// the targets there.
std::vector<bool> losses_that_change(std::int64_t changed, const KernelFactory& kernels) {
  Moe model = make_moe(little_moe(), 1, Dtype::f64);
  const Plan plan = make_plan(*model.graph, false);
  const Weights weights(plan, 5);
  for (std::int64_t i = 0; i < weights.all().elements(); ++i)  // the head starts at zero
    weights.all().as<double>()[i] += 0.3 * std::sin(static_cast<double>(i));
  Lane lane(plan, weights, kernels);
  const auto losses = [&](int by) {
    fill_ids(lane.view(model.tokens), 13, 1);
    fill_ids(lane.view(model.targets), 13, 2);
    for (std::int64_t t = changed; t < 9; ++t) {
      std::int32_t& token = lane.view(model.tokens).as<std::int32_t>()[t];
      token = (token + by) % 13;
    }
    lane.forward({});
    const double* begin = lane.view(model.losses).as<double>();
    return std::vector(begin, begin + 9);
  };
  const auto before = losses(0), after = losses(3);
  std::vector<bool> changes;
  for (std::size_t t = 0; t < before.size(); ++t) changes.push_back(before[t] != after[t]);
  return changes;
}

KernelSet right_kernels(Dtype dtype) { return host_kernels(dtype); }

/// Every position sees all others.
class SeeingAttention final : public AttentionKernels {
 public:
  explicit SeeingAttention(std::unique_ptr<AttentionKernels> real) : real_(std::move(real)) {}
  void forward(const AttentionShape& shape, View packed, View output, View log_sum) override {
    AttentionShape changed = shape;
    changed.causal = false;
    real_->forward(changed, packed, output, log_sum);
  }
  void backward(const AttentionShape& shape, const AttentionBackward& what) override {
    real_->backward(shape, what);
  }
  void join(const AttentionShape& shape, const AttentionPart& part,
            const AttentionPart& sum) override {
    real_->join(shape, part, sum);
  }

 private:
  std::unique_ptr<AttentionKernels> real_;
};

/// Gives an expert's places to the last tokens of a sequence instead of the first.
class BackwardPlaces final : public PassingExperts {
 public:
  using PassingExperts::PassingExperts;
  void route(const Routing& routing, View logits, View gates) override {
    const std::vector<double> right(logits.as<double>(), logits.as<double>() + logits.elements());
    turn(logits);
    PassingExperts::route(routing, logits, gates);
    turn(gates);
    std::copy(right.begin(), right.end(), logits.as<double>());
  }

 private:
  static void turn(View rows) {
    for (std::int64_t i = 0; i < rows.rows / 2; ++i)
      std::swap_ranges(rows.as<double>() + i * rows.columns,
                       rows.as<double>() + (i + 1) * rows.columns,
                       rows.as<double>() + (rows.rows - 1 - i) * rows.columns);
  }
};

template <class Group, class Faulty>
KernelFactory kernels_with(std::unique_ptr<Group> KernelSet::*group) {
  return [group](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    set.*group = std::make_unique<Faulty>(std::move(set.*group));
    return set;
  };
}

}  // namespace

TEST_CASE("the gradient of a mixture of experts is correct, also with recomputation") {
  CHECK(check_moe(right_kernels).worst < 1e-6);
  CHECK(check_moe(right_kernels, true).worst < 1e-6);
}

TEST_CASE("finite differences find faults of a mixture of experts") {
  std::vector<Fault> faults = llama_faults();
  faults.push_back({"the router gets no gradient", replace_experts<UntaughtRouter>});
  faults.push_back({"one expert gets no gradient", replace_experts<StaleExpert>});
  for (const Fault& fault : faults) {
    INFO(fault.name);
    const GradientError error = check_moe([&](Dtype dtype) {
      KernelSet set = host_kernels(dtype);
      fault.inject(set);
      return set;
    });
    CHECK(error.worst > 1e-3);
  }
}

TEST_CASE("a token's loss depends on no later token, and a leak of later tokens is found") {
  const auto experts = kernels_with<ExpertKernels, BackwardPlaces>(&KernelSet::experts);
  const auto attention = kernels_with<AttentionKernels, SeeingAttention>(&KernelSet::attention);
  for (const std::int64_t changed : {4, 8}) {
    const std::vector<bool> right = losses_that_change(changed, right_kernels);
    CHECK(std::count(right.begin(), right.begin() + changed, true) == 0);
    CHECK(right[static_cast<std::size_t>(changed)]);
    const std::vector<bool> seen = losses_that_change(changed, attention);
    CHECK(std::count(seen.begin(), seen.begin() + changed, true) > 0);
  }
  const std::vector<bool> crowded = losses_that_change(4, experts);
  CHECK(std::count(crowded.begin(), crowded.begin() + 4, true) > 0);
}

TEST_CASE("mixtures of experts have the published number of parameters") {
  const auto count = [](const char* preset) {
    return static_cast<double>(make_moe(moe_preset(preset), 1).graph->parameter_count());
  };
  const auto active = [](const char* preset) {
    return static_cast<double>(moe_active_parameters(moe_preset(preset)));
  };
  // Published: 20.9 B and 3.6 B with biases and sinks; 16.4 B and 2.8 B with a dense first
  // layer. Active ones are counted without the embedding.
  CHECK(count("gpt_oss_20b") == Approx(20.9e9).epsilon(2e-3));
  CHECK(active("gpt_oss_20b") == Approx(3.6e9).epsilon(0.02));
  CHECK(count("standard") == Approx(16.4e9).epsilon(0.04));
  CHECK(active("standard") == Approx(2.8e9 - 0.21e9).epsilon(0.04));
  CHECK(count("tiny") ==
        2 * (64 * 192 + 64 * 64 + 64 * 8 + 8 * 3 * 64 * 16 + 2 * 64) + 2 * 72 * 64 + 64);
  CHECK(active("tiny_dense") == active("tiny") - 2 * 64 * 8);  // without routers
}

TEST_CASE("FLOPs of a token are those of active parameters and the causal half of attention") {
  for (const std::string& preset : moe_presets()) {
    INFO(preset);
    const MoeShape shape = moe_preset(preset);
    const double attention =
        6.0 * static_cast<double>(shape.layers * shape.sequence * shape.heads * shape.head_dim);
    CHECK(moe_flops_per_token(shape) ==
          Approx(6.0 * static_cast<double>(moe_active_parameters(shape)) + attention));
  }
}

TEST_CASE("every preset of moe has a recipe that fits its model") {
  for (const std::string& preset : moe_presets()) {
    INFO(preset);
    const MoeSetting setting = moe_setting(preset);
    const Recipe& recipe = setting.recipe;
    CHECK(recipe.batch % recipe.micro_batch == 0);
    CHECK(recipe.horizon == recipe.schedule.horizon);
    CHECK(recipe.schedule.warmup < recipe.horizon / 5);
    CHECK(recipe.evaluation_every * 20 <= recipe.horizon);
    CHECK(recipe.target > 0.0);
    CHECK(setting.shape.vocabulary >= 64 + setting.regimes);
  }
  CHECK_THROWS_WITH(moe_preset("huge"), Catch::Contains("huge"));
}

}  // namespace bench::training
