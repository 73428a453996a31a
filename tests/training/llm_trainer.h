// Trains llm tiny on the grammar with its preset, for tests.
#pragma once

#include <memory>

#include "training/engine/replica.h"
#include "training/models/llm.h"
#include "training/optimizers/optimizer.h"
#include "training/sources/grammar.h"

namespace bench::training {

struct LlmTrainerOptions {
  int lanes = 2;
  int micro_batches = 1;
  std::int64_t batch = 32;  // sequences of a step
  std::int64_t steps = 0;   // of the schedule
  std::uint64_t seed = 1;
  bool recompute = false;
  int rank = 0;  // of `ranks`, which share the batch
  int ranks = 1;
  Dtype dtype = Dtype::f32;
  KernelFactory kernels = {};  // the host's where there are none
};

class LlmTrainer {
 public:
  explicit LlmTrainer(const LlmTrainerOptions& options);

  Replica::Step step();
  /// Writes a rank's micro-batches of a step.
  Replica::Fill fill(std::int64_t step, int rank) const;
  double rate(std::int64_t step) const { return schedule_.rate(step); }
  /// Mean loss over evaluation samples minus the oracle's, in nats per token.
  double gap(std::int64_t sequences = 512);
  Replica& replica() { return *replica_; }
  const Plan& plan() const { return plan_; }
  const Llm& model() const { return model_; }

 private:
  void read(Split split, std::uint64_t first, const Lane& lane, std::vector<float>* oracle) const;

  LlmTrainerOptions options_;
  GrammarSource source_;
  Llm model_;
  Plan plan_, evaluation_;
  std::unique_ptr<Replica> replica_;
  Schedule schedule_;
};

}  // namespace bench::training
