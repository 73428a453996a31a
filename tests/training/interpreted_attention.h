// A fake library that interprets the graphs for cuDNN, unchanged or damaged.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "training/cuda/cudnn/attention_graphs.h"

namespace bench::cudnn {

class InterpretedAttention final : public LibraryAttention {
 public:
  using Damage = std::function<void(OperationGraph&)>;
  explicit InterpretedAttention(Damage damage = {}) : damage_(std::move(damage)) {}
  std::string name() const override { return "make-believe"; }
  void forward(const training::AttentionShape& shape, training::View packed, training::View output,
               training::View log_sum) override;
  void backward(const training::AttentionShape& shape,
                const training::AttentionBackward& what) override;
  int calls() const { return calls_; }

 private:
  void run(OperationGraph graph, const std::map<std::int64_t, void*>& pointers);

  Damage damage_;
  int calls_ = 0;
};

/// Sequences of made-up values through forward and backward: output, log_sum, packed_gradient.
/// `upper`: how large the gradient of the output is.
std::vector<std::vector<double>> attention_results(training::AttentionKernels& kernels,
                                                   const training::AttentionShape& shape,
                                                   std::int64_t sequences = 2, bool add = false,
                                                   double upper = 1.0);

}  // namespace bench::cudnn
