// How good scores of clicks are: the gap of their expected AUC to that of the true probabilities,
// on the same samples.
#pragma once

#include <memory>

#include "probes/training/tables/click_batch.h"
#include "probes/training/workloads/workload.h"

namespace bench::training {

/// Takes scores from `logits` [samples, 1], and what is true of each sample from `batch`, which
/// holds the samples that the lane has just seen. Quality: gap and native are by expected labels;
/// parts:
///   log_loss         of the labels, nats
///   log_loss_gap     that less the log-loss of the true probabilities
///   calibration      mean predicted probability over the mean true one
///   main_effects_gap the gap of a model that knows every feature's effect but no interaction
std::unique_ptr<Evaluation> make_click_evaluation(const ClickBatch& batch, Var logits);

}  // namespace bench::training
