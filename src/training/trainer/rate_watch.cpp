#include "training/trainer/rate_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "training/engine/host_bytes.h"

namespace bench::training {
namespace {

constexpr std::int64_t kEvery = 10;    // steps: each measurement copies from a device
constexpr std::int64_t kCopied = 256;  // parameters
constexpr double kTolerance = 0.02;
constexpr double kLeastSignal = 100.0;  // change, in units of its rounding error

constexpr const char* kMasters = "master_weights";

/// The first elements of a part, in f64.
std::vector<double> wide(View view, Memory* memory) {
  const View part = part_of(view, 0, std::min(view.elements(), kCopied));
  const HostBytes bytes({"", part, memory});
  std::vector<double> values(static_cast<std::size_t>(part.elements()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = part.dtype == Dtype::f64
                    ? reinterpret_cast<const double*>(bytes.all().data())[i]
                    : static_cast<double>(reinterpret_cast<const float*>(bytes.all().data())[i]);
  return values;
}

double square(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  return sum;
}

}  // namespace

/// The masters of the parameters if there are any: they hold what an update changes.
std::vector<double> RateWatch::values_of(const UpdateRange& range) const {
  Memory* memory = replica_.kernels().memory.get();
  if (!is_narrow(replica_.plan().graph->compute())) return wide(range.parameters, memory);
  for (const NamedView& state : replica_.optimizer_state())
    if (state.name == kMasters)
      return wide(part_of(state.view, range.first, range.parameters.elements()), memory);
  return wide(range.parameters, memory);
}

void RateWatch::before_step(std::int64_t step) {
  sample_.before.clear();
  if (!found_.empty() || step % kEvery != 1 || replica_.updates().empty()) return;
  // Masters get their values in the first update, which loss scaling may have skipped so far.
  if (replica_.updates_done() == 0) return;
  sample_.before = values_of(replica_.updates().front());
  updates_ = replica_.updates_done();
}

void RateWatch::after_step(std::int64_t step, double rate) {
  if (sample_.before.empty() || replica_.updates_done() == updates_) return;
  const UpdateRange& range = replica_.updates().front();
  Memory* memory = replica_.kernels().memory.get();
  sample_.state.clear();
  for (const NamedView& state : replica_.optimizer_state())
    if (state.name != kMasters)
      sample_.state.push_back(
          wide(part_of(state.view, range.first, range.parameters.elements()), memory));
  sample_.decay = range.decay;
  sample_.step = replica_.updates_done();
  const std::vector<double> direction = replica_.optimizer().direction(sample_);
  const std::vector<double> after = values_of(range);
  double along = 0.0;
  for (std::size_t i = 0; i < direction.size(); ++i)
    along += (sample_.before[i] - after[i]) * direction[i];
  const double length = square(direction);
  const double last_bit =
      replica_.plan().graph->compute() == Dtype::f64 ? 0x1p-53 : 0x1p-24;  // masters are f32
  const double rounding = last_bit * std::sqrt(square(after));             // of the change
  if (!(rate * std::sqrt(length) > kLeastSignal * rounding)) return;
  ++measured_;
  const double measured = along / length;
  if (std::abs(measured - rate) <= kTolerance * rate) return;
  found_ = fmt::format(
      "the update of step {} had a learning rate of {:.4g}, but the schedule has "
      "{:.4g}",
      step, measured, rate);
}

}  // namespace bench::training
