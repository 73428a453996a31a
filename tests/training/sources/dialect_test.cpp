// A dialect of the generated language: a known law that differs from the language's by a low rank.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/token_sequence.h"

namespace bench::training {
namespace {

GrammarSource dialect(int redrawn) {
  GrammarOptions options;
  options.redrawn_factors = redrawn;
  return GrammarSource(options);
}

/// log p(next | before, last) of all symbols that can follow, minus its mean: logits without the
/// normalization of their row.
std::vector<double> logits(const GrammarSource& source, std::uint32_t before, std::uint32_t last) {
  const std::uint32_t* weights =
      source.tables().symbol_weights + (before * kSymbols + last) * kSymbols;
  std::vector<double> row;
  for (std::uint32_t next = kFirstAnchor; next < kSymbols; ++next)
    row.push_back(std::log(static_cast<double>(weights[next])));
  const double mean =
      std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
  for (double& value : row) value -= mean;
  return row;
}

/// The largest element that is left of a matrix after each of so many steps of elimination with
/// full pivoting: near zero from its rank on.
std::vector<double> pivots(std::vector<std::vector<double>> rows, int steps) {
  std::vector<double> found;
  for (int step = 0; step <= steps; ++step) {
    std::size_t r = 0, c = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < rows[i].size(); ++j)
        if (std::abs(rows[i][j]) > std::abs(rows[r][c])) std::tie(r, c) = std::pair(i, j);
    const double pivot = rows[r][c];
    found.push_back(std::abs(pivot));
    const std::vector<double> by = rows[r];
    for (std::vector<double>& row : rows) {
      const double factor = row[c] / pivot;
      for (std::size_t j = 0; j < row.size(); ++j) row[j] -= factor * by[j];
    }
  }
  return found;
}

std::vector<double> pivots_of_change(int redrawn, std::uint32_t before, int steps) {
  const GrammarSource language = dialect(0), other = dialect(redrawn);
  std::vector<std::vector<double>> change;
  for (std::uint32_t last = 0; last < kSymbols; ++last) {
    std::vector<double> row = logits(other, before, last);
    const std::vector<double> old = logits(language, before, last);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] -= old[i];
    change.push_back(std::move(row));
  }
  return pivots(std::move(change), steps);
}

}  // namespace

TEST_CASE("a dialect's logits differ from the language's by a matrix of the stated rank") {
  for (const int rank : {1, 2, 4}) {
    INFO(rank);
    const std::vector<double> left = pivots_of_change(rank, 20, rank);
    CHECK(left[static_cast<std::size_t>(rank) - 1] > 0.3);
    // Weights are multiples of 2^-32: the rarest symbols have errors of a hundredth.
    CHECK(left[static_cast<std::size_t>(rank)] < 0.03);
  }
}

TEST_CASE("a dialect's probabilities sum to 1 and have a floor near the language's") {
  const GrammarSource language = dialect(0), other = dialect(2);
  std::vector<double> p(64);
  const Sequence made = read_sequence(other, Split::evaluation, 3);
  for (std::size_t t = 0; t < made.tokens.size(); ++t) {
    distribution(other, std::span(made.tokens).first(t), p);
    CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1).epsilon(1e-12));
  }
  const auto floor = [](const GrammarSource& source) {
    double sum = 0.0, count = 0.0;
    for (std::uint64_t index = 0; index < 128; ++index)
      for (const float log_probability :
           read_sequence(source, Split::evaluation, index).log_probability) {
        sum -= static_cast<double>(log_probability);
        count += 1.0;
      }
    return sum / count;
  };
  CHECK(std::abs(floor(other) - floor(language)) < 0.2);
}

TEST_CASE("a dialect without redrawn factors is the language; more than all are refused") {
  CHECK(pivots_of_change(0, 20, 0)[0] == 0.0);
  CHECK_THROWS_WITH(dialect(7), Catch::Contains("7 redrawn factors"));
  CHECK_THROWS_WITH(dialect(-1), Catch::Contains("-1 redrawn factors"));
}

}  // namespace bench::training
