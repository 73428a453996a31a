// The area under the ROC curve: how likely a click is scored above a non-click. Where the true
// probabilities are known it is taken in expectation over the labels, which leaves out their noise.
#pragma once

#include <span>

namespace bench::training {

/// Sum over i != j of p_i (1 - p_j) [s_i > s_j, a half for equal scores] / sum of p_i (1 - p_j):
/// the expected AUC over labels drawn by `probabilities`. Probabilities that are 0 or 1 are
/// labels, and it is the ordinary AUC. O(n log n). NaN where no pair of a click and a non-click can
/// be; throws Error(internal) for a score that is not a number, or other sizes.
double expected_auc(std::span<const float> scores, std::span<const double> probabilities);

}  // namespace bench::training
