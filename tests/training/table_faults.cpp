#include "tests/training/table_faults.h"

#include <memory>
#include <utility>

#include "tests/training/passing_optimizer.h"

namespace bench::training {
namespace {

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

class ForgettingUpdates final : public PassingOptimizer {
 public:
  ForgettingUpdates(std::unique_ptr<OptimizerKernels> real, std::int64_t table_rows)
      : PassingOptimizer(std::move(real)), table_rows_(table_rows) {}
  void adagrad_rows(const AdagradRows& rows) override {
    if (rows.table.rows != table_rows_ || ++updates_ % 2 == 1) PassingOptimizer::adagrad_rows(rows);
  }

 private:
  std::int64_t table_rows_;
  int updates_ = 0;
};

}  // namespace

void corrupt_ids(KernelSet& set) {
  set.bags = std::make_unique<CorruptingBags>(std::move(set.bags));
}

void forget_updates(KernelSet& set, std::int64_t table_rows) {
  set.optimizer = std::make_unique<ForgettingUpdates>(std::move(set.optimizer), table_rows);
}

}  // namespace bench::training
