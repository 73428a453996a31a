// An exchange of gradients of which one rank loses a part.
#pragma once

#include <cstring>
#include <vector>

#include "core/dtype.h"
#include "tests/support/group_with.h"
#include "training/trainer/trainer.h"

namespace bench::training {

/// Once the run's clock has stopped, so that only the check is affected, rank 1 sends zeros instead
/// of this share of what it sends to all. Observes the run.
class LosingExchange final : public PassingCollectives, public RunObserver {
 public:
  LosingExchange(Group& group, double share)
      : PassingCollectives(group), loses_(share > 0.0 && group.rank() == 1), share_(share) {}
  void run_stop(std::int64_t, bool) override { stopped_ = true; }
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    if (!stopped_ || !loses_ || op != CollectiveOp::all_to_all)
      return PassingCollectives::run(op, send, recv, count, dtype);
    std::vector<std::byte> sent(count * 2 * size_of(dtype));
    std::memcpy(sent.data(), send, sent.size());
    std::memset(sent.data(), 0,
                static_cast<std::size_t>(share_ * static_cast<double>(sent.size())));
    PassingCollectives::run(op, sent.data(), recv, count, dtype);
  }

 private:
  bool loses_;
  double share_;
  bool stopped_ = false;
};

}  // namespace bench::training
