// f16 tensors, and the loss scale that keeps their gradients from vanishing.
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "core/elements.h"
#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/training/gradient_check.h"
#include "tests/training/short_training.h"
#include "training/engine/content_hash.h"
#include "training/engine/replica.h"
#include "training/host/host_kernels.h"
#include "training/kernels/functors/portable.h"
#include "training/models/llm.h"

namespace bench::training {
namespace {

float f16_from(std::uint16_t bits) {
  F16 half;
  half.bits = bits;
  return static_cast<float>(half);
}

/// Makes the gradients of chosen calls (from 0, of training alone) infinite.
class OverflowingLoss final : public LossKernels {
 public:
  OverflowingLoss(std::unique_ptr<LossKernels> real, int first, int last)
      : real_(std::move(real)), first_(first), last_(last) {}
  void cross_entropy(View logits, View targets, double scale, View losses) override {
    const bool hit = scale != 0.0 && calls_ >= first_ && calls_ <= last_;
    calls_ += scale != 0.0 ? 1 : 0;
    real_->cross_entropy(logits, targets, hit ? 1e9 * scale : scale, losses);
  }
  void add_up(View losses, View sum, bool add) override { real_->add_up(losses, sum, add); }

 private:
  std::unique_ptr<LossKernels> real_;
  int first_, last_;
  int calls_ = 0;
};

KernelFactory overflowing(int first, int last) {
  return [first, last](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    set.loss = std::make_unique<OverflowingLoss>(std::move(set.loss), first, last);
    return set;
  };
}

/// llm tiny trained repeatedly on one batch, on one lane.
struct Shown {
  Llm model;
  Plan plan;
  Replica replica;

  Shown(Dtype dtype, const KernelFactory& kernels, const LossScaleOptions& scale = {})
      : model(make_llm(llm_preset("tiny"), 2, dtype)),
        plan(make_plan(*model.graph)),
        replica(plan, model.losses, kernels, make_adamw({}), {1, 1, 1, scale}) {}
  Replica::Fill fill() const {
    return [this](const Lane& lane, int) {
      fill_ids(lane.view(model.tokens), 64, 1);
      fill_ids(lane.view(model.targets), 64, 2);
    };
  }
  std::uint64_t hash() const {
    const View all = replica.weights().all();
    return content_hash({all.as<std::byte>(), static_cast<std::size_t>(2 * all.elements())});
  }
};

}  // namespace

TEST_CASE("every f16 decodes to its value and encodes back") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    double value = 0.0;
    decode(reinterpret_cast<const std::byte*>(&half), Dtype::f16, false, {&value, 1});
    const float read = f16_from(half);
    const bool same = std::isnan(value)
                          ? std::isnan(read) && std::isnan(f16_from(F16(read).bits))
                          : read == static_cast<float>(value) && F16(read).bits == half;
    wrong += same ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("an f32 rounds to the nearest f16, ties to even, infinite beyond the largest") {
  int wrong = 0;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    // Exponents of which f16 has numbers, subnormal ones and those below them.
    const auto word = static_cast<std::uint32_t>(random_bits(1, i));
    const std::uint32_t exponent = 127 - 27 + (word >> 8 & 0xff) % 42;
    const std::uint32_t made = (word & 0x80000000u) | exponent << 23 | (word >> 4 & 0x7fffffu);
    float value = 0.0F;
    std::memcpy(&value, &made, sizeof value);
    if (std::abs(value) > 65504.0F) continue;  // encode() makes no infinity of a finite number
    wrong +=
        static_cast<float>(F16(value)) == static_cast<float>(rounded(value, Dtype::f16)) ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(F16(65519.996F).bits == 0x7bff);
  CHECK(F16(65520.0F).bits == 0x7c00);
  CHECK(F16(-1e30F).bits == 0xfc00);
  CHECK(F16(std::numeric_limits<float>::infinity()).bits == 0x7c00);
  CHECK(std::isnan(static_cast<float>(F16(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(F16(0x1p-25F).bits == 0);  // a tie, to even
  CHECK(F16(0x1.8p-24F).bits == 2);
}

TEST_CASE("the loss scale halves on overflow and doubles after many steps without one") {
  LossScale scale(Dtype::f16, {1024.0, 3});
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK_FALSE(scale.accepts(infinite));
  CHECK(scale.value() == 512.0);
  CHECK(scale.accepts(1.0));
  CHECK(scale.accepts(1.0));
  CHECK_FALSE(scale.accepts(std::nan("")));  // the count restarts
  CHECK(scale.value() == 256.0);
  for (int i = 0; i < 2; ++i) CHECK(scale.accepts(1.0));
  CHECK(scale.value() == 256.0);
  CHECK(scale.accepts(1.0));
  CHECK(scale.value() == 512.0);
  CHECK(scale.skipped() == 2);
  LossScale wide(Dtype::bf16);
  CHECK(wide.accepts(infinite));  // left to who looks at the norm
  CHECK(wide.value() == 1.0);
}

TEST_CASE("an f16 model trains like an f32 model within f16 rounding") {
  const auto kernels = [](Dtype d) { return host_kernels(d); };
  Shown wide(Dtype::f32, kernels), narrow(Dtype::f16, kernels);
  double first = 0.0, last = 0.0;
  for (int i = 0; i < 12; ++i) {
    const Replica::Step here = wide.replica.step(wide.fill(), 3e-3, 1.0);
    const Replica::Step there = narrow.replica.step(narrow.fill(), 3e-3, 1.0);
    REQUIRE_FALSE(there.skipped);
    CHECK(there.loss == Approx(here.loss).epsilon(0.003));
    CHECK(there.gradient_norm == Approx(here.gradient_norm).epsilon(0.02));
    first = i == 0 ? there.loss : first;
    last = there.loss;
  }
  CHECK(last < 0.7 * first);
}

TEST_CASE("an overflow skips its step, halves the scale and changes no parameter") {
  Shown training(Dtype::f16, overflowing(2, 2));
  for (int step = 0; step < 5; ++step) {
    const std::uint64_t before = training.hash();
    const Replica::Step done = training.replica.step(training.fill(), 3e-3, 1.0);
    INFO("step " << step);
    CHECK(done.skipped == (step == 2));
    CHECK((training.hash() == before) == (step == 2));
    CHECK(training.replica.loss_scale().value() == (step < 2 ? 65536.0 : 32768.0));
  }
  CHECK(training.replica.steps_done() == 5);
  CHECK(training.replica.updates_done() == 4);
}

TEST_CASE("a gradient that is NaN at any scale ends an f16 training") {
  Shown training(Dtype::f16, overflowing(0, 1000));
  const auto train = [&] {
    for (int step = 0; step < 20; ++step) training.replica.step(training.fill(), 3e-3);
  };
  CHECK_THROWS_AS(train(), Error);
  CHECK(training.replica.loss_scale().skipped() == 16);  // 2^16 down to 1
}

TEST_CASE("llm tiny in f16 meets a target; skipped steps are reported and no outliers", "[long]") {
  ShortTraining training;
  training.recipe = short_recipe(1000, 1.5);
  training.dtype = Dtype::f16;
  training.lanes = 1;
  // Eight micro-batches a step: the first four steps, when nothing has moved yet, and one later.
  training.inject = [](KernelSet& set) {
    set.loss = std::make_unique<OverflowingLoss>(std::move(set.loss), 0, 31);
    set.loss = std::make_unique<OverflowingLoss>(std::move(set.loss), 8 * 12, 8 * 12);
  };
  const TrainingRun run = train_short(training);
  CHECK(run.converged);
  CHECK(run.loss_scale.value().skipped == 5);
  CHECK(run.loss_scale.value().value == 2048.0);
  CHECK_FALSE(std::isfinite(run.steps.at(12).gradient_norm));
  CHECK(std::isfinite(run.steps.at(13).gradient_norm));
  for (const TrainingCheck& check : run.checks) {
    INFO(check.check << ": " << check.text);
    CHECK(check.held);
  }
}

TEST_CASE("an f16 training resumes with its scale and skipped steps") {
  ShortTraining training;
  training.recipe = short_recipe(24, 0.0);
  training.recipe.batch = 8;
  training.dtype = Dtype::f16;
  training.lanes = 1;
  training.inject = [](KernelSet& set) {
    set.loss = std::make_unique<OverflowingLoss>(std::move(set.loss), 2 * 3, 2 * 3);
  };
  const TrainingRun whole = train_short(training);
  const TemporaryDirectory folder;
  training.checkpoint = folder.path();
  training.steps = 12;
  train_short(training);
  training.steps = 0;
  training.resume = true;
  training.inject = {};
  const TrainingRun rest = train_short(training);
  CHECK(rest.first_step == 10);
  CHECK(rest.loss_scale.value() == whole.loss_scale.value());
  REQUIRE(rest.steps.size() == 14);
  for (std::size_t i = 0; i < rest.steps.size(); ++i)
    CHECK(rest.steps[i].loss == whole.steps[10 + i].loss);
}

}  // namespace bench::training
