// Compressed sums over ranks: the largest elements, and factors of matrices.
#include "training/parallel/compressor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "training/host/host_kernels.h"
#include "training/parallel/power_sgd.h"
#include "training/parallel/top_k.h"
#include "training/sources/random.h"

namespace bench::training {
namespace {

std::vector<float> random_row(std::uint64_t seed, std::int64_t elements) {
  std::vector<float> row;
  for (std::int64_t i = 0; i < elements; ++i)
    row.push_back(normal(random_stream(seed, 7), static_cast<std::uint64_t>(i)));
  return row;
}

View view_of(std::vector<float>& row) {
  return {row.data(), 1, static_cast<std::int64_t>(row.size()), Dtype::f32};
}

/// By sorting: the indices of the largest magnitudes, of equal ones the first.
std::vector<std::int32_t> sorted_choice(const std::vector<float>& row, std::size_t count) {
  std::vector<std::int32_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::int32_t i) {
    return std::abs(row[static_cast<std::size_t>(i)]);
  });
  order.resize(count);
  std::ranges::sort(order);
  return order;
}

std::vector<std::int32_t> choice(std::vector<float> row, std::size_t count) {
  std::vector<std::byte> scratch(row.size() * sizeof(float));
  std::vector<std::int32_t> chosen(count);
  choose_largest(view_of(row), scratch.data(), chosen);
  return chosen;
}

struct Summed {
  std::vector<std::vector<float>> rest = {}, sum = {};  // by rank, after the last repetition
};

/// Every rank compresses rows[rank], again and again; what is left is dropped.
Summed compress(const ExchangeMethod& method, const std::vector<RowTensor>& tensors,
                const std::vector<std::vector<float>>& rows, int threads, int repetitions = 1) {
  Summed summed;
  summed.rest = summed.sum = rows;
  run_ranks(static_cast<int>(rows.size()), [&](Group& group) {
    const auto rank = static_cast<std::size_t>(group.rank());
    const KernelSet kernels = host_kernels(Dtype::f32);
    WorkerPool pool(threads);
    const auto compressor =
        make_compressor(method, {group, kernels, pool, 65536}, tensors, Dtype::f32);
    for (int i = 0; i < repetitions; ++i) {
      summed.rest[rank] = rows[rank];
      compressor->exchange(view_of(summed.rest[rank]), view_of(summed.sum[rank]));
    }
  });
  return summed;
}

double difference_in(const std::vector<float>& a, const std::vector<float>& b, std::size_t first,
                     std::size_t count) {
  double most = 0.0;
  for (std::size_t i = first; i < first + count; ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return most;
}

/// [rows, columns] of rank `rank`, at the end of `row`.
void append_low_rank(std::vector<float>& row, std::uint64_t seed, std::int64_t rows,
                     std::int64_t columns, std::int64_t rank) {
  const std::vector<float> left = random_row(seed, rows * rank);
  const std::vector<float> right = random_row(100 + seed, columns * rank);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      float value = 0.0f;
      for (std::int64_t k = 0; k < rank; ++k)
        value += left[static_cast<std::size_t>(i * rank + k)] *
                 right[static_cast<std::size_t>(j * rank + k)];
      row.push_back(value);
    }
}

const ExchangeMethod kTwentieth{.kind = ExchangeKind::topk, .share = 0.05};
const ExchangeMethod kPowerSgd{.kind = ExchangeKind::powersgd, .rank = 4};

}  // namespace

TEST_CASE("the largest elements are those that sorting finds, of equal ones the first") {
  for (const std::int64_t elements : {1, 7, 1000}) {
    std::vector<float> row = random_row(static_cast<std::uint64_t>(elements), elements);
    for (float& value : row) value = std::round(value * 4.0f);  // many equal ones, and zeros
    for (const std::size_t count : {std::size_t{1}, row.size() / 3 + 1, row.size()})
      CHECK(choice(row, count) == sorted_choice(row, count));
  }
}

TEST_CASE("NaN is among the largest elements, so that it is not kept in silence") {
  std::vector<float> row = random_row(1, 50);
  row[20] = -std::numeric_limits<float>::quiet_NaN();
  row[30] = std::numeric_limits<float>::infinity();
  CHECK(choice(row, 2) == std::vector<std::int32_t>{20, 30});
}

TEST_CASE("topk sums the largest elements of each tensor and rank, and the rest stays") {
  const std::vector<RowTensor> tensors = {{0, 1, 3}, {8, 30, 10}};  // a gap from 3 to 7
  const std::vector<std::vector<float>> rows = {random_row(1, 308), random_row(2, 308),
                                                random_row(3, 308)};
  const Summed summed = compress(kTwentieth, tensors, rows, 1);
  std::vector<float> expected(308);
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    std::vector<float> rest = rows[rank];
    for (const auto& [first, count] : {std::pair{0, 1}, std::pair{8, 15}}) {
      const auto begin = rows[rank].begin() + first;
      for (const std::int32_t i : sorted_choice({begin, begin + (first == 0 ? 3 : 300)},
                                                static_cast<std::size_t>(count))) {
        const auto at = static_cast<std::size_t>(first + i);
        expected[at] += rows[rank][at];
        rest[at] = 0.0f;
      }
    }
    CHECK(summed.rest[rank] == rest);
  }
  for (const std::vector<float>& sum : summed.sum) {
    CHECK(difference_in(sum, expected, 0, 3) == 0.0);
    CHECK(difference_in(sum, expected, 8, 300) == 0.0);
  }
  CHECK(compress(kTwentieth, tensors, rows, 3).sum == summed.sum);
}

TEST_CASE("columns become orthonormal, and one that depends on others becomes zero") {
  std::vector<float> x = random_row(1, 20 * 4);
  for (std::size_t i = 0; i < 20; ++i) x[4 * i + 2] = 2.0f * x[4 * i] - x[4 * i + 1];
  std::vector<double> scratch(x.size());
  orthonormalise({x.data(), 20, 4, Dtype::f32}, scratch);
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 4; ++b) {
      double product = 0.0;
      for (std::size_t i = 0; i < 20; ++i)
        product += static_cast<double>(x[4 * i + a]) * static_cast<double>(x[4 * i + b]);
      CHECK(product == Approx(a == b && a != 2 ? 1.0 : 0.0).margin(1e-6));
    }
}

TEST_CASE("powersgd is exact for matrices whose sum has at most its rank, and for vectors") {
  const std::vector<RowTensor> tensors = {{0, 1, 30}, {30, 40, 25}, {1030, 20, 50}};
  std::vector<std::vector<float>> rows;
  for (const std::uint64_t rank : {1U, 2U}) {
    rows.push_back(random_row(rank, 30));
    append_low_rank(rows.back(), rank, 40, 25, 2);  // together of rank 4
    append_low_rank(rows.back(), 10, 20, 50, 1);    // of rank 1
  }
  for (const int repetitions : {1, 3}) {
    const Summed summed = compress(kPowerSgd, tensors, rows, 1, repetitions);
    std::vector<float> expected(rows[0].size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = rows[0][i] + rows[1][i];
    CHECK(difference_in(summed.sum[0], expected, 0, 30) == 0.0);
    CHECK(difference_in(summed.sum[0], expected, 30, 2000) < 2e-5);
    CHECK(difference_in(summed.rest[0], std::vector<float>(2030), 0, 2030) < 2e-5);
    CHECK(summed.sum[0] == summed.sum[1]);
    CHECK(compress(kPowerSgd, tensors, rows, 2, repetitions).sum == summed.sum);
  }
}

TEST_CASE("the power iteration approaches the best approximation of a matrix") {
  // Singular values 1, 1/2, 1/4, ...: the best of rank 4 is off by 1/16 and less.
  std::vector<float> matrix(30 * 30);
  std::vector<double> scratch(900);
  std::vector<float> u = random_row(1, 900), v = random_row(2, 900);
  orthonormalise({u.data(), 30, 30, Dtype::f32}, scratch);
  orthonormalise({v.data(), 30, 30, Dtype::f32}, scratch);
  double best = 0.0;
  for (std::size_t k = 0; k < 30; ++k) {
    const double value = std::pow(0.5, static_cast<double>(k));
    if (k >= 4) best += value * value;
    for (std::size_t i = 0; i < 900; ++i)
      matrix[i] += static_cast<float>(value) * u[i / 30 * 30 + k] * v[i % 30 * 30 + k];
  }
  const auto error = [&](int repetitions) {
    const Summed summed = compress(kPowerSgd, {{0, 30, 30}}, {matrix, matrix}, 1, repetitions);
    double square = 0.0;
    for (const float rest : summed.rest[0])
      square += static_cast<double>(rest) * static_cast<double>(rest);
    return std::sqrt(square / best);
  };
  const double once = error(1), often = error(20);
  CHECK(once > often);
  CHECK(often == Approx(1.0).epsilon(0.01));
}

TEST_CASE("a step without gradients loses no direction of the next") {
  const std::vector<RowTensor> tensors = {{0, 20, 30}};
  std::vector<float> matrix;
  append_low_rank(matrix, 3, 20, 30, 3);
  std::vector<std::vector<float>> sums(2);
  run_ranks(2, [&](Group& group) {
    const KernelSet kernels = host_kernels(Dtype::f32);
    WorkerPool pool(1);
    const auto compressor = make_compressor(kPowerSgd, {group, kernels, pool}, tensors, Dtype::f32);
    std::vector<float> zeros(600), rest = matrix, sum(600);
    compressor->exchange(view_of(zeros), view_of(sum));
    compressor->exchange(view_of(rest), view_of(sum));
    sums[static_cast<std::size_t>(group.rank())] = sum;
  });
  for (float& value : matrix) value *= 2.0f;
  CHECK(difference_in(sums[0], matrix, 0, 600) < 2e-5);
  CHECK(sums[0] == sums[1]);
}

TEST_CASE("gradients of 16 bits are not compressed") {
  const auto alone = make_self_group();
  const KernelSet kernels = host_kernels(Dtype::bf16);
  WorkerPool pool(1);
  CHECK_THROWS_WITH(make_compressor(kTwentieth, {*alone, kernels, pool}, {{0, 1, 8}}, Dtype::bf16),
                    Catch::Contains("bf16 cannot be compressed"));
}

}  // namespace bench::training
