#include "probes/operators/operator_run.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/training/fake_device.h"
#include "training/host/host_kernels.h"

namespace bench {
namespace {

constexpr OperatorSizes kSmallSizes{.tokens = 24,
                                    .sequence = 12,
                                    .channels = 32,
                                    .head_dim = 8,
                                    .hidden = 48,
                                    .vocabulary = 40,
                                    .images = 2,
                                    .side = 6,
                                    .maps = 16,
                                    .table_rows = 50,
                                    .lookups = 3};

training::KernelSet operator_kernels(Dtype dtype) { return training::host_kernels(dtype); }

Check checked(const OperatorCase& which, Dtype dtype, OperatorPass pass, int threads,
              const training::KernelFactory& kernels = operator_kernels) {
  const OperatorModel model(which, kSmallSizes, dtype), wide(which, kSmallSizes, Dtype::f64);
  OperatorRun run(model, kernels, threads, 7);
  const OperatorResults reference = run.reference(wide, operator_kernels, pass);
  run.prepare(pass);
  run.run(3);
  return run.check(reference);
}

/// In f64, after the first call.
std::vector<double> output_of(const char* name) {
  const OperatorModel model(operator_case(name), kSmallSizes, Dtype::f64);
  OperatorRun run(model, operator_kernels, 1, 7);
  run.prepare(OperatorPass::forward);
  return run.last_results(0).at(0);
}

double memory_of(const char* name, std::int64_t sequence) {
  OperatorSizes sizes = kSmallSizes;
  sizes.tokens = 48;
  sizes.sequence = sequence;
  return OperatorModel(operator_case(name), sizes, Dtype::f32).cost(OperatorPass::forward).memory;
}

TEST_CASE("every operator computes in f32 what it computes in f64") {
  for (const OperatorCase& which : operator_cases())
    for (const OperatorPass pass : {OperatorPass::forward, OperatorPass::backward}) {
      const OperatorModel model(which, kSmallSizes, Dtype::f32);
      INFO(which.name << " " << model.why_not());
      REQUIRE(model.why_not().empty());
      if (!model.has(pass)) continue;
      const Check check = checked(which, Dtype::f32, pass, 2);
      CHECK(check.error <= check.tolerance);
      const OperatorCost cost = model.cost(pass);
      CHECK(cost.bytes > 0.0);
      CHECK(cost.working_set(1) > 0.0);
      CHECK(cost.memory >= 0.0);
    }
}

TEST_CASE("operators compute the same in memory that the host cannot access") {
  for (const OperatorCase& which : operator_cases())
    for (const OperatorPass pass : {OperatorPass::forward, OperatorPass::backward}) {
      const OperatorModel model(which, kSmallSizes, Dtype::f32);
      if (which.on_hosts_only || !model.has(pass)) continue;
      training::FakeDevice device;
      INFO(which.name);
      const Check check =
          checked(which, Dtype::f32, pass, 1, [&](Dtype dtype) { return device.kernels(dtype); });
      CHECK(check.error <= check.tolerance);
    }
}

TEST_CASE("repeated calls neither overflow nor reach subnormal numbers") {
  for (const OperatorCase& which : operator_cases())
    for (const OperatorPass pass : {OperatorPass::forward, OperatorPass::backward}) {
      const OperatorModel model(which, kSmallSizes, Dtype::f32);
      if (!model.has(pass)) continue;
      OperatorRun run(model, operator_kernels, 1, 7);
      run.prepare(pass);
      run.run(400);
      std::size_t odd = 0;
      for (const std::vector<double>& tensor : run.last_results(0))
        for (const double value : tensor)
          if (!std::isfinite(value) || (value != 0.0 && std::abs(value) < 1e-30)) ++odd;
      INFO(which.name);
      CHECK(odd == 0);
    }
}

TEST_CASE("a result that is not a number is found where calls change their inputs") {
  const OperatorModel model(operator_case("adamw"), kSmallSizes, Dtype::f32);
  const OperatorModel wide(operator_case("adamw"), kSmallSizes, Dtype::f64);
  REQUIRE(model.changes_its_inputs(OperatorPass::forward));
  class Spoiled final : public training::OptimizerKernels {
   public:
    void adamw(const training::AdamwRange& range) override {
      if (++calls_ == 2) range.parameters.as<float>()[5] = std::numeric_limits<float>::infinity();
    }
    void momentum(const training::MomentumRange&) override {}
    void adagrad_rows(const training::AdagradRows&) override {}
    double square_sum(training::View) override { return 0.0; }

   private:
    int calls_ = 0;
  };
  const auto kernels = [](Dtype dtype) {
    training::KernelSet set = training::host_kernels(dtype);
    set.optimizer = std::make_unique<Spoiled>();
    return set;
  };
  OperatorRun run(model, kernels, 1, 7);
  const OperatorResults reference = run.reference(wide, kernels, OperatorPass::forward);
  run.prepare(OperatorPass::forward);
  run.run(1);
  CHECK_FALSE(run.check(reference).passed());
}

TEST_CASE("operators of 16 bits are compared with the values that they were given") {
  for (const char* name : {"linear_out", "rms_norm", "attention", "cross_entropy"}) {
    INFO(name);
    const Check check = checked(operator_case(name), Dtype::bf16, OperatorPass::forward, 1);
    CHECK(check.error <= check.tolerance);
    CHECK(check.error > 0.0);
  }
}

TEST_CASE("differences are shares of the largest number of their tensor") {
  const OperatorResults reference{{1.0, -2.0, 0.5}, {10.0}};
  OperatorResults found = reference;
  CHECK(largest_difference(found, reference) == 0.0);
  found[0][2] = 0.501;
  CHECK(largest_difference(found, reference) == Approx(0.0005));
  found[0][2] = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(largest_difference(found, reference)));
}

TEST_CASE("both kinds of attention and of AdamW compute the same") {
  for (const auto& [one, other] :
       {std::pair{"attention", "attention_with_scores"}, std::pair{"adamw", "adamw_in_passes"}}) {
    const std::vector<double> a = output_of(one), b = output_of(other);
    REQUIRE(a.size() == b.size());
    double worst = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
    INFO(one);
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("only attention that keeps its scores needs memory that grows with the sequence") {
  CHECK(memory_of("attention", 24) == memory_of("attention", 12));
  // 48 rows x 4 heads x 12 more scores of 4 bytes, and 12 (4 x 8 + 2) of scratch memory
  CHECK(memory_of("attention_with_scores", 24) - memory_of("attention_with_scores", 12) ==
        48.0 * 4 * 12 * 4 + 12.0 * 34 * 4);
}

TEST_CASE("costs are those of the formulas") {
  const OperatorModel product(operator_case("linear_up"), kSmallSizes, Dtype::f32);
  CHECK(product.cost(OperatorPass::forward).flops == 2.0 * 24 * 32 * 48);
  CHECK(product.cost(OperatorPass::backward).flops == 4.0 * 24 * 32 * 48);
  CHECK(product.cost(OperatorPass::forward).bytes == 4.0 * (24 * 32 + 32 * 48 + 24 * 48));
  const OperatorModel bags(operator_case("embedding_bag"), kSmallSizes, Dtype::f32);
  CHECK(bags.cost(OperatorPass::forward).bytes == 4.0 * (24 * 3 + (24 * 3 + 24) * 64));
  const OperatorModel adamw(operator_case("adamw"), kSmallSizes, Dtype::f32);
  CHECK(adamw.cost(OperatorPass::forward).bytes == 7.0 * 4 * (4 * 32 * 32));
  CHECK(adamw.cost(OperatorPass::forward).own == 4.0 * 4 * (4 * 32 * 32) + 4 * 8);
  CHECK(adamw.cost(OperatorPass::forward).memory == 0.0);
  CHECK(product.cost(OperatorPass::forward).working_set(3) ==
        4.0 * (3 * 24 * 32 + 32 * 48 + 3 * 24 * 48));
  CHECK(bags.cost(OperatorPass::forward).working_set(1) == bags.cost(OperatorPass::forward).bytes);
}

}  // namespace
}  // namespace bench
