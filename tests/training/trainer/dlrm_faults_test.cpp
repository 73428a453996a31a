// Faults of a training with tables that its target misses.
#include <functional>
#include <memory>
#include <utility>

#include "tests/support/catch.h"
#include "tests/training/dlrm_training.h"
#include "tests/training/short_training.h"
#include "tests/training/table_faults.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// Gives each sample the first feature of the one before it, in what the first layer reads.
class ShiftingGemm final : public GemmKernels {
 public:
  explicit ShiftingGemm(std::unique_ptr<GemmKernels> real) : real_(std::move(real)) {}
  void multiply(const GemmOptions& product, View a, View b, View c) override {
    constexpr std::int64_t kFeatures = 13;
    auto* features = a.as<float>();
    if (a.columns == kFeatures && !product.transpose_a)
      for (std::int64_t i = a.rows - 1; i > 0; --i)
        features[i * kFeatures] = features[(i - 1) * kFeatures];
    real_->multiply(product, a, b, c);
  }

 private:
  std::unique_ptr<GemmKernels> real_;
};

TrainingRun train_faulty(const std::function<void(KernelSet&)>& inject) {
  TrainerOptions options = dlrm_training(12, 256);
  options.recipe.batch = 512;
  const auto alone = make_self_group();
  RunObserver nobody;
  return train_dlrm(1, options, *alone, nobody, inject).run;
}

}  // namespace

TEST_CASE("one ID in a hundred changed after reading is found") {
  const TrainingRun run = train_faulty(corrupt_ids);
  const TrainingCheck& check = check_named(run, "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 11: IDs of sample 5632 changed after it was read"));
  CHECK(check_named(run, "tables_move").held);
}

TEST_CASE("a feature taken from the previous sample is found") {
  const TrainingRun run = train_faulty(
      [](KernelSet& set) { set.gemm = std::make_unique<ShiftingGemm>(std::move(set.gemm)); });
  const TrainingCheck& check = check_named(run, "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 11: 'dense' of samples"));
}

TEST_CASE("a table skipped in every second update is found by number") {
  const TrainingRun run = train_faulty([](KernelSet& set) { forget_updates(set, 1000); });
  const TrainingCheck& check = check_named(run, "tables_move");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("did not change table 0: "));
  CHECK(check_named(run, "data").held);
}

}  // namespace bench::training
