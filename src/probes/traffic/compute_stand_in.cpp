#include "probes/traffic/compute_stand_in.h"

#include <algorithm>
#include <cmath>

#include "core/elements.h"
#include "devices/host_clock.h"

namespace bench {
namespace {

/// Of which there is whatever processor time is asked for: some ten microseconds.
constexpr GemmShape kFiller{48, 48, 48};
constexpr std::int64_t kCheckedElements = 64;

/// Elements of the three matrices.
struct MatrixElements {
  std::int64_t a = 0, b = 0, c = 0;

  void fit(const GemmShape& shape) {
    a = std::max(a, shape.m * shape.k);
    b = std::max(b, shape.k * shape.n);
    c = std::max(c, shape.m * shape.n);
  }
};

MatrixElements elements_of(const StepSchedule& schedule, const ComputeSeconds& given) {
  MatrixElements elements;
  for (const TrafficOp& op : schedule.ops) {
    if (op.kind != TrafficKind::compute) continue;
    if (given.given() || op.seconds > 0.0)
      elements.fit(kFiller);
    else
      for (const GemmCalls& gemm : op.gemms) elements.fit(gemm.shape);
  }
  return elements;
}

double thread_seconds() { return cpu_time_of(CLOCK_THREAD_CPUTIME_ID).value; }

}  // namespace

double ComputeSeconds::of(TrafficPass pass) const {
  if (pass == TrafficPass::forward) return forward;
  return pass == TrafficPass::backward ? backward : update;
}

ComputeStandIn::ComputeStandIn(const StepSchedule& schedule, const training::KernelSet& kernels,
                               Dtype dtype, const ComputeSeconds& given, std::uint64_t seed)
    : kernels_(kernels), dtype_(dtype), given_(given) {
  for (const TrafficOp& op : schedule.ops) {
    if (op.kind != TrafficKind::compute) continue;
    pass_flops_[static_cast<std::size_t>(op.pass)] += op.flops();
    ++pass_ops_[static_cast<std::size_t>(op.pass)];
  }
  const auto [a, b, c] = elements_of(schedule, given);
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  a_ = training::MemoryBlock(a * size, "matrices of stand-ins");
  b_ = training::MemoryBlock(b * size, "matrices of stand-ins");
  c_ = training::MemoryBlock(c * size, "matrices of stand-ins");
  for (const training::MemoryBlock* block : {&a_, &b_})
    for (std::int64_t i = 0; i < block->bytes() / size; ++i) {
      const std::uint64_t bits =
          random_bits(seed + (block == &b_ ? 1 : 0), static_cast<std::uint64_t>(i));
      encode(block->data() + i * size, dtype, static_cast<double>(bits >> 11) * 0x1p-53 - 0.5);
    }
}

double ComputeStandIn::bytes_of(const StepSchedule& schedule, Dtype dtype,
                                const ComputeSeconds& given) {
  const auto [a, b, c] = elements_of(schedule, given);
  return (static_cast<double>(a) + static_cast<double>(b) + static_cast<double>(c)) *
         static_cast<double>(size_of(dtype));
}

training::View ComputeStandIn::view(const training::MemoryBlock& block, std::int64_t rows,
                                    std::int64_t columns) const {
  return {block.data(), rows, columns, dtype_};
}

void ComputeStandIn::multiply(const GemmShape& shape, std::int64_t calls) {
  for (; calls > 0; --calls)
    kernels_.gemm->multiply({}, view(a_, shape.m, shape.k), view(b_, shape.k, shape.n),
                            view(c_, shape.m, shape.n));
  last_ = shape;
}

void ComputeStandIn::begin() { owed_ = done_ = 0.0; }

void ComputeStandIn::run(const TrafficOp& op) {
  double seconds = op.seconds;
  if (given_.given()) {
    const auto pass = static_cast<std::size_t>(op.pass);
    const double share = pass_flops_[pass] > 0.0 ? op.flops() / pass_flops_[pass]
                                                 : 1.0 / static_cast<double>(pass_ops_[pass]);
    seconds = given_.of(op.pass) * share;
  } else if (!(seconds > 0.0)) {
    for (const GemmCalls& gemm : op.gemms) multiply(gemm.shape, gemm.calls);
    return;
  }
  // What one computation takes too long, the next ones take less: on average as much as given.
  owed_ += seconds;
  const double begin = thread_seconds() - done_;
  while (done_ < owed_) {
    multiply(kFiller, 1);
    done_ = thread_seconds() - begin;
  }
}

Check ComputeStandIn::check() const {
  Check check{"GEMMs in place of the model, against sums in f64", 0.0,
              training::is_narrow(dtype_) ? 0.03 : 1e-4};
  if (last_.m == 0) return check;
  const auto size = static_cast<std::int64_t>(size_of(dtype_));
  const auto element = [&](const training::MemoryBlock& block, std::int64_t at) {
    double value = 0.0;
    decode(block.data() + at * size, dtype_, false, {&value, 1});
    return value;
  };
  const std::int64_t all = last_.m * last_.n;
  const std::int64_t step = std::max<std::int64_t>(1, all / kCheckedElements);
  for (std::int64_t at = 0; at < all; at += step) {
    double sum = 0.0, length = 0.0;
    for (std::int64_t k = 0; k < last_.k; ++k) {
      const double term =
          element(a_, at / last_.n * last_.k + k) * element(b_, k * last_.n + at % last_.n);
      sum += term;
      length += std::abs(term);
    }
    const double error = std::abs(element(c_, at) - sum) / std::max(length, 1e-30);
    if (!(error <= check.error)) check.error = error;
  }
  return check;
}

}  // namespace bench
