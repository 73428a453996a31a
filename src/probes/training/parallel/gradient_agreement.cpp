// DataParallel::compare_gradient.
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "probes/training/kernels/functors/portable.h"
#include "probes/training/parallel/data_parallel.h"

namespace bench::training {
namespace {

double number(double value) { return value; }
double number(float value) { return value; }
double number(Bf16 value) { return static_cast<float>(value); }
double number(F16 value) { return static_cast<float>(value); }

struct Distance {
  double difference = 0.0;  // sum of squares
  double length = 0.0;

  template <class T>
  void add(View exchanged, View alone) {
    for (std::int64_t i = 0; i < alone.elements(); ++i) {
      const double a = number(alone.as<T>()[i]), b = number(exchanged.as<T>()[i]);
      difference += (a - b) * (a - b);
      length += a * a;
    }
  }
  double relative() const { return std::sqrt(difference / length); }
};

View row_in(const MemoryBlock& block, Dtype dtype) {
  return {block.data(), 1, block.bytes() / static_cast<std::int64_t>(size_of(dtype)), dtype};
}

}  // namespace

GradientAgreement DataParallel::compare_gradient(
    const std::function<Replica::Fill(int rank)>& fill_of) {
  return compare_gradient({fill_of(group_.rank())},
                          [&](int rank) { return GradientPass{fill_of(rank)}; });
}

GradientAgreement DataParallel::compare_gradient(
    const GradientPass& own, const std::function<GradientPass(int rank)>& pass_of) {
  const View row = replica_.gradients();
  const std::int64_t bytes = row.elements() * static_cast<std::int64_t>(size_of(row.dtype));
  const MemoryBlock exchanged(bytes, "exchanged gradients"), alone(bytes, "gradients of all ranks");
  const std::shared_ptr<Memory>& memory = replica_.kernels().memory;
  const MemoryBlock added(bytes, "gradients of all ranks", memory);
  Replica::Hooks hooks;
  hooks.after_backward = own.after_backward;
  const std::exception_ptr thrown = exchange_.forward_backward(own.fill, hooks);
  StepOutcome unused;
  agree_on_loss(thrown, unused);  // before the passes, which may wait for other ranks
  memory->download(row.data, exchanged.data(), bytes);
  for (int rank = 0; rank < group_.size(); ++rank) {
    const GradientPass pass = pass_of(rank);
    hooks.after_backward = pass.after_backward;
    replica_.forward_backward(pass.fill, replica_.rows() * group_.size(), hooks);
    replica_.sum_lanes();
    replica_.kernels().elementwise->copy(row, row_in(added, row.dtype), rank > 0);
  }
  memory->download(added.data(), alone.data(), bytes);
  Distance distance;
  for (const BlockRange& range : exchange_.owned()) {
    const View mine = blocks_in(row_in(exchanged, row.dtype), range);
    const View sum = blocks_in(row_in(alone, row.dtype), range);
    if (row.dtype == Dtype::f64)
      distance.add<double>(mine, sum);
    else if (row.dtype == Dtype::bf16)
      distance.add<Bf16>(mine, sum);
    else if (row.dtype == Dtype::f16)
      distance.add<F16>(mine, sum);
    else
      distance.add<float>(mine, sum);
  }
  double longest = distance.difference == 0.0 ? 0.0 : distance.relative();
  if (!std::isfinite(longest)) longest = std::numeric_limits<double>::max();
  group_.max(std::span(&longest, 1));
  return {longest,
          is_narrow(row.dtype) ? GradientAgreement::kTolerance16 : GradientAgreement::kTolerance};
}

}  // namespace bench::training
