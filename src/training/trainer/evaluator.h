// Evaluates a replica's weights on the evaluation samples, which are split over the ranks: forward
// passes on separate lanes over the same weights.
#pragma once

#include <memory>
#include <vector>

#include "training/engine/replica.h"
#include "training/parallel/model_ranks.h"
#include "training/workloads/workload.h"

namespace bench::training {

class Evaluator {
 public:
  /// All arguments must outlive it. `micro_batch` is the one `model` was made for.
  Evaluator(Workload& workload, const Model& model, std::int64_t micro_batch, Replica& replica,
            const KernelFactory& kernels);

  /// Over the first `samples` of the evaluation split. Every rank calls it and gets the same.
  /// Micro-batches are counted in one order, so the result is equal from run to run.
  Quality evaluate(std::int64_t samples, const ModelRanks& ranks);

  /// A lane for reading samples again without disturbing the training.
  const Lane& lane(int index) const { return *lanes_[static_cast<std::size_t>(index)]; }
  Lane& lane(int index) { return *lanes_[static_cast<std::size_t>(index)]; }
  /// Of all lanes.
  std::int64_t memory_bytes() const;

 private:
  /// Samples that the lanes do at once.
  std::int64_t round() const { return static_cast<std::int64_t>(lanes_.size()) * micro_batch_; }
  void evaluate_round(std::int64_t first, std::int64_t end, const ModelRanks& ranks,
                      Evaluation& evaluation);

  Workload& workload_;
  const Model& model_;
  std::int64_t micro_batch_;
  Replica& replica_;
  Plan plan_;
  std::vector<StageChunk> chunks_;
  std::vector<std::unique_ptr<Lane>> lanes_ = {};
};

}  // namespace bench::training
