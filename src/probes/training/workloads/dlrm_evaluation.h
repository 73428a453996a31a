// How good scores of clicks are: the gap of their expected AUC to that of the true probabilities,
// on the same samples.
#pragma once

#include <memory>

#include "probes/training/tables/click_batch.h"
#include "probes/training/workloads/workload.h"

namespace bench::training {

/// What the first `samples` evaluation samples say without a model: made once, sorting is slow.
struct ClickConstants {
  std::size_t samples = 0;
  double auc = 0.0;           // of the true probabilities
  double main_effects = 0.0;  // of every feature's effect alone
};

/// Takes scores from `logits` [samples, 1], and what is true of each sample from `batch`, which
/// holds the samples that the lane has just seen. Quality: gap and native are by expected labels;
/// parts:
///   log_loss         of the labels, nats
///   log_loss_gap     that less the log-loss of the true probabilities
///   calibration      mean predicted probability over the mean true one
///   main_effects_gap the gap of a model that knows every feature's effect but no interaction
/// Where the truth is not known, gap and native are by the labels, the floor is an AUC of 1, and
/// parts are log_loss, normalized_entropy (log_loss over that of the click rate alone) and
/// calibration, over the rate of clicks.
/// `constants` is kept from one evaluation to the next, and must outlive them.
std::unique_ptr<Evaluation> make_click_evaluation(const ClickBatch& batch, Var logits,
                                                  ClickConstants& constants);

}  // namespace bench::training
