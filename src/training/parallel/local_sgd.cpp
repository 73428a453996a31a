#include "training/parallel/local_sgd.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "training/parallel/compressor.h"
#include "training/parallel/element_sums.h"

namespace bench::training {
namespace {

// How far an average moves parameters in the comparison, relative to them: far above rounding. The
// ranks move further apart the smaller the outer rate is.
constexpr double kMoved = 0.01;

Replica& with_full_precision(Replica& replica) {
  const Dtype dtype = replica.gradients().dtype;
  if (is_narrow(dtype))
    throw Error(ErrorKind::input,
                "parameters of " + std::string(to_string(dtype)) + " cannot be averaged over ranks",
                "train in f32 or f64");
  return replica;
}

std::int64_t blocks_of_bucket(View row, std::int64_t bytes) {
  const std::int64_t block = kBlock * static_cast<std::int64_t>(size_of(row.dtype));
  return std::clamp<std::int64_t>(bytes / block, 1, std::max<std::int64_t>(1, blocks_of(row)));
}

void copy_row(View from, View to) { std::memcpy(to.data, from.data, bytes_of(from).size()); }

double length_of_row(View row) {
  double square = 0.0;
  with_row_type(row.dtype, [&]<class T>(T) {
    for (std::int64_t i = 0; i < row.elements(); ++i)
      square += static_cast<double>(row.as<T>()[i]) * static_cast<double>(row.as<T>()[i]);
  });
  return std::sqrt(square);
}

}  // namespace

LocalSgd::LocalSgd(Replica& replica, Group& group, const ExchangeMethod& method,
                   std::int64_t bucket_bytes, SumOrder order)
    : replica_(with_full_precision(replica)),
      group_(group),
      method_(method),
      sums_(group, replica.kernels(), nullptr, replica.gradients().dtype,
            blocks_of_bucket(replica.gradients(), bucket_bytes), order),
      common_(std::ssize(bytes_of(replica.gradients())), "common parameters"),
      momentum_(common_.bytes(), "momentum of common parameters") {
  resume();
}

View LocalSgd::row_in(const MemoryBlock& block) const {
  const View row = replica_.gradients();
  return {block.data(), 1, row.elements(), row.dtype};
}

View LocalSgd::parameters() const {
  return part_of(replica_.weights().all(), 0, replica_.gradients().elements());
}

void LocalSgd::resume() { copy_row(parameters(), row_in(common_)); }

std::vector<NamedView> LocalSgd::state() const {
  return {{"exchange/outer_momentum", row_in(momentum_), nullptr}};
}

std::int64_t LocalSgd::bytes_for(const Plan& plan, int ranks, std::int64_t bucket_bytes) {
  const View row = gradient_row(plan);
  return BucketExchange::bytes_for(blocks_of_bucket(row, bucket_bytes), ranks, row.dtype);
}

void LocalSgd::average() {
  const View moved = replica_.gradients();
  const auto by_blocks = [&](const auto& work) {
    replica_.pool().run([&](int thread) {
      split_work(blocks_of(moved), thread, replica_.pool().size(), [&](std::int64_t block) {
        const std::int64_t last = std::min((block + 1) * kBlock, moved.elements());
        for (std::int64_t i = block * kBlock; i < last; ++i) work(i);
      });
    });
  };
  with_row_type(moved.dtype, [&]<class T>(T) {
    T* const d = moved.as<T>();
    T* const own = parameters().as<T>();
    T* const common = row_in(common_).as<T>();
    T* const momentum = row_in(momentum_).as<T>();
    by_blocks([=](std::int64_t i) { d[i] = common[i] - own[i]; });
    sums_.all_reduce_row(moved);
    const T ranks = static_cast<T>(group_.size());
    const T rate = static_cast<T>(method_.outer_rate),
            keeps = static_cast<T>(method_.outer_momentum);
    by_blocks([=](std::int64_t i) {
      const T mean = d[i] / ranks;
      momentum[i] = keeps * momentum[i] + mean;
      common[i] -= rate * (mean + keeps * momentum[i]);
      own[i] = common[i];
    });
  });
}

std::vector<double> LocalSgd::expected_parameters() const {
  const View own = parameters();
  std::vector<double> expected(static_cast<std::size_t>(own.elements()));
  with_row_type(own.dtype, [&]<class T>(T) {
    sum_elements(
        group_, own.elements(), [&](std::int64_t i) { return static_cast<double>(own.as<T>()[i]); },
        [&](std::int64_t i, double sum) {
          const double common = row_in(common_).as<T>()[i];
          const double mean = common - sum / group_.size();
          const double momentum = method_.outer_momentum * row_in(momentum_).as<T>()[i] + mean;
          expected[static_cast<std::size_t>(i)] =
              common - method_.outer_rate * (mean + method_.outer_momentum * momentum);
        });
  });
  return expected;
}

double LocalSgd::compare(const Replica::Fill& fill) {
  const MemoryBlock parameters_before(common_.bytes(), "parameters to restore");
  const MemoryBlock common_before(common_.bytes(), "common parameters to restore");
  const MemoryBlock momentum_before(common_.bytes(), "momentum to restore");
  copy_row(parameters(), row_in(parameters_before));
  copy_row(row_in(common_), row_in(common_before));
  copy_row(row_in(momentum_), row_in(momentum_before));
  replica_.forward_backward(fill, replica_.rows());
  replica_.sum_lanes();
  const View gradient = replica_.gradients();
  const double step =
      kMoved / method_.outer_rate * length_of_row(parameters()) / length_of_row(gradient);
  double difference = 0.0, length = 0.0;
  with_row_type(gradient.dtype, [&]<class T>(T) {
    T* const own = parameters().as<T>();
    for (std::int64_t i = 0; i < gradient.elements(); ++i)
      own[i] -= static_cast<T>(step * static_cast<double>(gradient.as<T>()[i]));
    const std::vector<double> expected = expected_parameters();
    average();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double off = static_cast<double>(own[i]) - expected[i];
      const double moved = expected[i] - static_cast<double>(row_in(common_before).as<T>()[i]);
      difference += off * off;
      length += moved * moved;
    }
  });
  copy_row(row_in(parameters_before), parameters());
  copy_row(row_in(common_before), row_in(common_));
  copy_row(row_in(momentum_before), row_in(momentum_));
  const double distance = std::sqrt(difference / length);
  return largest(group_, std::isfinite(distance) ? distance : std::numeric_limits<double>::max());
}

}  // namespace bench::training
