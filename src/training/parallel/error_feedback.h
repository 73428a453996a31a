// The compressed exchange of gradients with error feedback (arXiv 1809.07599, 1901.09847): what a
// rank does not send in a step, its residual, is added to its gradient in the next one. So over all
// ranks, gradients + old residuals = exchanged sum + new residuals, and over many steps the
// exchanged sums add up to the gradients.
#pragma once

#include <memory>
#include <vector>

#include "training/engine/replica.h"
#include "training/parallel/compressor.h"

namespace bench::training {

class ErrorFeedback {
 public:
  /// For replica.gradients() in host memory. Throws like make_compressor(), and Error(environment)
  /// if the group has no collectives.
  ErrorFeedback(Replica& replica, Group& group, const ExchangeMethod& method,
                std::int64_t bucket_bytes, SumOrder order);

  /// replica.gradients() becomes the exchanged sum over all ranks. Call on every rank.
  void exchange();

  /// What this rank has not sent yet, in the layout of the gradients; zero at first.
  View residual() const;
  /// Of the last exchange(): communication with waiting for late ranks, and all else.
  Seconds communicated() const { return compressor_->communicated(); }
  Seconds compressed() const { return total_ - communicated(); }
  /// Of buffers, without the residual.
  std::int64_t bytes() const { return compressor_->bytes(); }
  /// Of this rank, for checkpoints.
  std::vector<NamedView> state() const;

 private:
  Replica& replica_;
  std::unique_ptr<Compressor> compressor_;
  MemoryBlock residual_;
  Seconds total_ = {};
};

}  // namespace bench::training
