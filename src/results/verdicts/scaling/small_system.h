// Linear equations of a handful of unknowns, as least squares of few parameters give.
#pragma once

#include <optional>
#include <vector>

namespace bench {

using SmallMatrix = std::vector<std::vector<double>>;  // square, [row][column]

/// Inverse by pivoted elimination after scaling rows and columns to a unit diagonal, to handle
/// parameters of very different magnitude. Nothing if singular.
std::optional<SmallMatrix> inverse(const SmallMatrix& positive_definite);

std::vector<double> product(const SmallMatrix& a, const std::vector<double>& x);

/// J^T J of rows of a Jacobian.
SmallMatrix normal_matrix(const std::vector<std::vector<double>>& rows, std::size_t columns);
/// J^T r.
std::vector<double> normal_right(const std::vector<std::vector<double>>& rows,
                                 const std::vector<double>& residuals, std::size_t columns);

}  // namespace bench
