#include "results/verdicts/scaling/small_system.h"

#include <cmath>
#include <cstddef>
#include <utility>

namespace bench {
namespace {

constexpr double kSingular = 1e-13;  // of a unit diagonal

SmallMatrix unit(std::size_t n) {
  SmallMatrix one(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) one[i][i] = 1.0;
  return one;
}

/// Turns `a` into the identity and `b` into the inverse of `a`. False if singular.
bool eliminate(SmallMatrix& a, SmallMatrix& b) {
  const std::size_t n = a.size();
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row)
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    if (!(std::abs(a[pivot][column]) > kSingular)) return false;
    std::swap(a[pivot], a[column]);
    std::swap(b[pivot], b[column]);
    const double divisor = a[column][column];
    for (std::size_t k = 0; k < n; ++k) a[column][k] /= divisor, b[column][k] /= divisor;
    for (std::size_t row = 0; row < n; ++row) {
      const double factor = row == column ? 0.0 : a[row][column];
      for (std::size_t k = 0; k < n; ++k)
        a[row][k] -= factor * a[column][k], b[row][k] -= factor * b[column][k];
    }
  }
  return true;
}

}  // namespace

std::optional<SmallMatrix> inverse(const SmallMatrix& matrix) {
  const std::size_t n = matrix.size();
  std::vector<double> scale;
  for (std::size_t i = 0; i < n; ++i) {
    if (!(matrix[i][i] > 0.0) || !std::isfinite(matrix[i][i])) return {};
    scale.push_back(1.0 / std::sqrt(matrix[i][i]));
  }
  SmallMatrix a = matrix, b = unit(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) a[i][k] *= scale[i] * scale[k];
  if (!eliminate(a, b)) return {};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) b[i][k] *= scale[i] * scale[k];
  return b;
}

std::vector<double> product(const SmallMatrix& a, const std::vector<double>& x) {
  std::vector<double> y(a.size(), 0.0);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < x.size(); ++k) y[i] += a[i][k] * x[k];
  return y;
}

SmallMatrix normal_matrix(const std::vector<std::vector<double>>& rows, std::size_t columns) {
  SmallMatrix sums(columns, std::vector<double>(columns, 0.0));
  for (const auto& row : rows)
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t k = 0; k < columns; ++k) sums[i][k] += row[i] * row[k];
  return sums;
}

std::vector<double> normal_right(const std::vector<std::vector<double>>& rows,
                                 const std::vector<double>& residuals, std::size_t columns) {
  std::vector<double> sums(columns, 0.0);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < columns; ++i) sums[i] += rows[r][i] * residuals[r];
  return sums;
}

}  // namespace bench
