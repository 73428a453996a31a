// Faults of a training of two towers, and what finds each.
#include <functional>
#include <memory>
#include <utility>

#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/short_training.h"
#include "tests/training/table_faults.h"
#include "tests/training/two_tower_training.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// Leaves out the bias of the scores of all pairs: the only product with a transposed factor and a
/// bias.
class UncorrectedGemm final : public GemmKernels {
 public:
  explicit UncorrectedGemm(std::unique_ptr<GemmKernels> real) : real_(std::move(real)) {}
  void multiply(const GemmOptions& product, View a, View b, View c) override {
    GemmOptions changed = product;
    if (product.transpose_b) changed.bias = {};
    real_->multiply(changed, a, b, c);
  }

 private:
  std::unique_ptr<GemmKernels> real_;
};

/// Changes the correction of one sample in place, once it has been read.
class ChangingGemm final : public GemmKernels {
 public:
  explicit ChangingGemm(std::unique_ptr<GemmKernels> real) : real_(std::move(real)) {}
  void multiply(const GemmOptions& product, View a, View b, View c) override {
    if (product.transpose_b && product.bias) product.bias.as<float>()[3] += 0.5f;
    real_->multiply(product, a, b, c);
  }

 private:
  std::unique_ptr<GemmKernels> real_;
};

TrainingRun faulty_towers(std::int64_t steps, const std::function<void(KernelSet&)>& inject) {
  const auto alone = make_self_group();
  RunObserver nobody;
  return train_two_tower(1, two_tower_training(steps), *alone, nobody, inject).run;
}

}  // namespace

TEST_CASE("one ID in a hundred of two towers changed after reading is found") {
  const TrainingRun run = faulty_towers(6, corrupt_ids);
  const TrainingCheck& check = check_named(run, "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 5: IDs of sample 5120 changed after it was read"));
}

TEST_CASE("an item's correction changed after reading is found") {
  const TrainingRun run = faulty_towers(
      6, [](KernelSet& set) { set.gemm = std::make_unique<ChangingGemm>(std::move(set.gemm)); });
  const TrainingCheck& check = check_named(run, "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 5: 'corrections' of samples"));
}

TEST_CASE("the table of items skipped in every second update is found by number") {
  const TrainingRun run = faulty_towers(6, [](KernelSet& set) { forget_updates(set, 2048); });
  const TrainingCheck& check = check_named(run, "tables_move");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("did not change table 4: "));
}

// Without it a model learns P(item | user) / P(item): the best ranking except for popularity.
TEST_CASE("two towers without the correction of the softmax stay far from their target", "[long]") {
  const TrainingRun right = faulty_towers(400, {});
  const TrainingRun wrong = faulty_towers(400, [](KernelSet& set) {
    set.gemm = std::make_unique<UncorrectedGemm>(std::move(set.gemm));
  });
  CHECK(right.curve.back().gap < 0.04);
  CHECK(wrong.curve.back().gap > 0.08);
  for (const TrainingCheck& check : right.checks) {
    INFO(check.check << ": " << check.text);
    CHECK(check.held);
  }
}

}  // namespace bench::training
