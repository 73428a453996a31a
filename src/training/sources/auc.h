// The area under the ROC curve: the probability that a click is scored above a non-click. If the
// true probabilities are known, the expectation over the labels is used, which removes their noise.
#pragma once

#include <span>

namespace bench::training {

/// Sum over i != j of p_i (1 - p_j) [s_i > s_j, a half for equal scores] / sum of p_i (1 - p_j):
/// the expected AUC over labels drawn by `probabilities`. Probabilities that are 0 or 1 are
/// labels, and it is the ordinary AUC. O(n log n). NaN if there can be no pair of a click and a
/// non-click; throws Error(internal) for a NaN score or different sizes.
double expected_auc(std::span<const float> scores, std::span<const double> probabilities);

}  // namespace bench::training
