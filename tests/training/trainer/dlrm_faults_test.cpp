// Faults of a training with tables that its target misses.
#include <functional>
#include <memory>
#include <utility>

#include "tests/support/catch.h"
#include "tests/training/dlrm_training.h"
#include "tests/training/short_training.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// Changes one id in a hundred in place before rows are looked up by them.
class CorruptingBags final : public BagKernels {
 public:
  explicit CorruptingBags(std::unique_ptr<BagKernels> real) : real_(std::move(real)) {}
  void pool(const BagIds& ids, View table, std::int64_t first_row, float* y,
            std::int64_t y_stride) override {
    auto* damaged = const_cast<std::int32_t*>(ids.data);
    for (std::int64_t bag = 0; bag < ids.bags; bag += 100)
      damaged[bag * ids.stride] =
          static_cast<std::int32_t>((damaged[bag * ids.stride] + 1) % table.rows);
    real_->pool(ids, table, first_row, y, y_stride);
  }
  void add(const BagIds& slots, const float* y_gradient, std::int64_t y_stride, float scale,
           View sums) override {
    real_->add(slots, y_gradient, y_stride, scale, sums);
  }

 private:
  std::unique_ptr<BagKernels> real_;
};

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

/// Skips the largest table in every second update.
class ForgettingUpdates final : public OptimizerKernels {
 public:
  explicit ForgettingUpdates(std::unique_ptr<OptimizerKernels> real) : real_(std::move(real)) {}
  void adamw(const AdamwRange& range) override { real_->adamw(range); }
  void adagrad_rows(const AdagradRows& rows) override {
    if (rows.table.rows != 1000 || ++updates_ % 2 == 1) real_->adagrad_rows(rows);
  }
  double square_sum(View x) override { return real_->square_sum(x); }

 private:
  std::unique_ptr<OptimizerKernels> real_;
  int updates_ = 0;
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
  const TrainingRun run = train_faulty(
      [](KernelSet& set) { set.bags = std::make_unique<CorruptingBags>(std::move(set.bags)); });
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
  const TrainingRun run = train_faulty([](KernelSet& set) {
    set.optimizer = std::make_unique<ForgettingUpdates>(std::move(set.optimizer));
  });
  const TrainingCheck& check = check_named(run, "tables_move");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("did not change table 0: "));
  CHECK(check_named(run, "data").held);
}

}  // namespace bench::training
