#include "training/parallel/power_sgd.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "devices/host_clock.h"
#include "training/sources/random.h"

namespace bench::training {
namespace {

/// x [rows, columns] in columns of f64, made orthonormal in place.
void orthonormalise_columns(double* x, std::int64_t rows, std::int64_t columns, double least) {
  const auto product = [rows](const double* a, const double* b) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < rows; ++i) sum += a[i] * b[i];
    return sum;
  };
  for (std::int64_t k = 0; k < columns; ++k) {
    double* const own = x + k * rows;
    const double before = std::sqrt(product(own, own));
    for (int pass = 0; pass < 2; ++pass)  // once is not enough for columns that are nearly parallel
      for (std::int64_t other = 0; other < k; ++other) {
        const double along = product(x + other * rows, own);
        for (std::int64_t i = 0; i < rows; ++i) own[i] -= along * x[other * rows + i];
      }
    const double length = std::sqrt(product(own, own));
    const bool depends = length <= least * before;  // NaN stays NaN, which the norm check finds
    for (std::int64_t i = 0; i < rows; ++i) own[i] = depends ? 0.0 : own[i] / length;
  }
}

}  // namespace

void orthonormalise(View x, std::vector<double>& scratch) {
  with_row_type(x.dtype, [&]<class T>(T) {
    T* const values = x.as<T>();
    for (std::int64_t i = 0; i < x.elements(); ++i)
      scratch[static_cast<std::size_t>(i % x.columns * x.rows + i / x.columns)] =
          static_cast<double>(values[i]);
    orthonormalise_columns(scratch.data(), x.rows, x.columns, sizeof(T) == 8 ? 1e-12 : 1e-5);
    for (std::int64_t i = 0; i < x.elements(); ++i)
      values[i] =
          static_cast<T>(scratch[static_cast<std::size_t>(i % x.columns * x.rows + i / x.columns)]);
  });
}

/// The steps of one tensor, in elements of type T.
template <class T>
struct PowerSgd::Work {
  const Factors& of;
  View rest, sum;
  T* p;
  T* q;
  int ranks;

  T* matrix() const { return rest.as<T>() + of.tensor.first; }
  std::int64_t rows() const { return of.tensor.rows; }
  std::int64_t columns() const { return of.tensor.columns; }

  /// P = M Q, whose columns are first scaled to length 1, so that products do not underflow; or the
  /// tensor itself.
  void project() const {
    if (of.rank == 0) {
      std::copy(matrix(), matrix() + of.tensor.elements(), p);
      std::fill(matrix(), matrix() + of.tensor.elements(), T{});
      return;
    }
    for (std::int64_t k = 0; k < of.rank; ++k) {
      double square = 0.0;
      for (std::int64_t j = 0; j < columns(); ++j)
        square += static_cast<double>(q[j * of.rank + k]) * static_cast<double>(q[j * of.rank + k]);
      if (!(square > 0.0)) continue;
      const T scale = static_cast<T>(1.0 / std::sqrt(square));
      for (std::int64_t j = 0; j < columns(); ++j) q[j * of.rank + k] *= scale;
    }
    std::fill(p, p + rows() * of.rank, T{});
    for (std::int64_t i = 0; i < rows(); ++i)
      for (std::int64_t j = 0; j < columns(); ++j)
        for (std::int64_t k = 0; k < of.rank; ++k)
          p[i * of.rank + k] += matrix()[i * columns() + j] * q[j * of.rank + k];
  }

  /// Q = M^T P, and M -= P Q^T. Where a column of P is zero, as those of a matrix of lower rank
  /// are, Q keeps its column, so that the direction is not lost for later steps.
  void back_project(std::vector<double>& scratch) const {
    if (of.rank == 0) return;
    orthonormalise({p, rows(), of.rank, rest.dtype}, scratch);
    for (std::int64_t k = 0; k < of.rank; ++k) {
      bool zero = true;
      for (std::int64_t i = 0; i < rows() && zero; ++i) zero = p[i * of.rank + k] == T{};
      for (std::int64_t j = 0; j < columns(); ++j)
        q[j * of.rank + k] = zero ? q[j * of.rank + k] / static_cast<T>(ranks) : T{};
    }
    for (std::int64_t i = 0; i < rows(); ++i)
      for (std::int64_t j = 0; j < columns(); ++j)
        for (std::int64_t k = 0; k < of.rank; ++k)
          q[j * of.rank + k] += matrix()[i * columns() + j] * p[i * of.rank + k];
    for (std::int64_t i = 0; i < rows(); ++i)
      for (std::int64_t j = 0; j < columns(); ++j) matrix()[i * columns() + j] -= entry(i, j);
  }

  /// Of P Q^T.
  T entry(std::int64_t i, std::int64_t j) const {
    T value{};
    for (std::int64_t k = 0; k < of.rank; ++k) value += p[i * of.rank + k] * q[j * of.rank + k];
    return value;
  }

  void restore() const {
    T* const to = sum.as<T>() + of.tensor.first;
    if (of.rank == 0) {
      std::copy(p, p + of.tensor.elements(), to);
      return;
    }
    for (std::int64_t i = 0; i < rows(); ++i)
      for (std::int64_t j = 0; j < columns(); ++j) to[i * columns() + j] = entry(i, j);
  }
};

PowerSgd::PowerSgd(const ExchangeMethod& method, const CompressorPlace& place,
                   const std::vector<RowTensor>& tensors, Dtype dtype)
    : place_(place), dtype_(dtype) {
  std::int64_t most = 0;
  for (const RowTensor& tensor : tensors) {
    const std::int64_t rank = factor_rank(method, tensor);
    factors_.push_back({tensor, rank, left_count_, right_count_});
    left_count_ += rank > 0 ? rank * tensor.rows : tensor.elements();
    right_count_ += rank * tensor.columns;
    most = std::max(most, rank * tensor.rows);
  }
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  left_ = MemoryBlock(left_count_ * size, "left factors of gradients");
  right_ = MemoryBlock(right_count_ * size, "right factors of gradients");
  scratch_.assign(static_cast<std::size_t>(place.pool.size()),
                  std::vector<double>(static_cast<std::size_t>(most)));
  const std::int64_t blocks = std::clamp<std::int64_t>(
      place.bucket_bytes / (kBlock * size), 1, std::max(blocks_of(left()), blocks_of(right())) + 1);
  sums_ = std::make_unique<BucketExchange>(place.group, place.kernels, nullptr, dtype, blocks,
                                           place.order);
  with_row_type(dtype, [&]<class T>(T) {
    for (std::int64_t i = 0; i < right_count_; ++i)
      right().as<T>()[i] =
          static_cast<T>(normal(random_stream(1905, 13727), static_cast<std::uint64_t>(i)));
  });
}

std::int64_t PowerSgd::bytes() const {
  std::int64_t scratch = 0;
  for (const std::vector<double>& one : scratch_)
    scratch += static_cast<std::int64_t>(one.size() * sizeof(double));
  return left_.bytes() + right_.bytes() + sums_->bytes() + scratch;
}

std::vector<NamedView> PowerSgd::state() const {
  if (right_count_ == 0) return {};
  return {{"factors", right(), nullptr}};
}

void PowerSgd::sum_over_ranks(View row) {
  if (row.elements() == 0) return;
  const Seconds begin = steady_now();
  sums_->all_reduce_row(row);
  communicated_ += steady_now() - begin;
}

void PowerSgd::exchange(View rest, View sum) {
  communicated_ = {};
  with_row_type(dtype_, [&]<class T>(T) {
    const auto of_tensors = [&](const auto& step) {
      place_.pool.run([&](int thread) {
        split_work(std::ssize(factors_), thread, place_.pool.size(), [&](std::int64_t i) {
          const Factors& of = factors_[static_cast<std::size_t>(i)];
          step(Work<T>{of, rest, sum, left().as<T>() + of.left, right().as<T>() + of.right,
                       place_.group.size()},
               scratch_[static_cast<std::size_t>(thread)]);
        });
      });
    };
    of_tensors([](const Work<T>& work, std::vector<double>&) { work.project(); });
    sum_over_ranks(left());
    of_tensors(
        [](const Work<T>& work, std::vector<double>& scratch) { work.back_project(scratch); });
    sum_over_ranks(right());
    of_tensors([](const Work<T>& work, std::vector<double>&) { work.restore(); });
  });
}

}  // namespace bench::training
