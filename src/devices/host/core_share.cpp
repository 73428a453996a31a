#include "devices/host/core_share.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

#include "devices/host_clock.h"

namespace bench {
namespace {

constexpr double kWindowCycles = 40000;  // about 10 us
constexpr std::size_t kWindows = 3;      // whose median counts
constexpr double kMostWaitSeconds = 0.001;

std::optional<ComputeKernel> multiply_adds(const std::string& isa) {
  std::optional<ComputeKernel> found;
  for (const ComputeKernel& kernel : vector_kernels())
    if (kernel.stream.dtype == Dtype::f32 && (!found || kernel.stream.isa == isa)) found = kernel;
  return found;
}

/// Spin barrier, so that threads work at the same time.
class Meeting {
 public:
  explicit Meeting(std::size_t threads) : threads_(threads) {}
  bool complete() {
    ++arrived_;
    const double begin = steady_now().value;
    while (arrived_.load(std::memory_order_acquire) < threads_)
      if (steady_now().value - begin > kMostWaitSeconds) return false;
    return true;
  }

 private:
  const std::size_t threads_;
  std::atomic<std::size_t> arrived_{0};
};

/// The median of a few windows, which one disturbance does not change.
double median_seconds(const ComputeKernel& kernel, const Factors& factors, std::int64_t iterations,
                      std::byte* sums) {
  std::array<double, kWindows> seconds{};
  for (double& one : seconds) {
    const double begin = steady_now().value;
    kernel.loop(iterations, factors.a.data(), factors.b.data(), sums);
    one = steady_now().value - begin;
  }
  std::ranges::sort(seconds);
  return seconds[kWindows / 2];
}

}  // namespace

CoreShare::CoreShare(int threads, const std::string& isa)
    : kernel_(multiply_adds(isa)), lanes_(static_cast<std::size_t>(threads)) {
  if (!kernel_) return;
  factors_ = make_factors(*kernel_);
  iterations_ =
      static_cast<std::int64_t>(kWindowCycles * kernel_->stream.most_per_cycle / kernel_->sums);
  for (Lane& lane : lanes_)
    lane.sums.resize(kernel_->bytes * static_cast<std::size_t>(kernel_->sums));
  // The clock settles within the first of them.
  constexpr int kAlone = 10;
  fastest_ = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kAlone; ++i)
    fastest_ = std::min(
        fastest_, median_seconds(*kernel_, factors_, iterations_, lanes_.front().sums.data()));
}

std::optional<double> CoreShare::smallest(const OnAllThreads& on_all) {
  if (!kernel_) return {};
  Meeting meeting(lanes_.size());
  for (Lane& lane : lanes_) lane.seconds = 0.0;
  on_all([&](int thread) {
    Lane& lane = lanes_.at(static_cast<std::size_t>(thread));
    if (!meeting.complete()) return;
    lane.begin = steady_now().value;
    lane.seconds = median_seconds(*kernel_, factors_, iterations_, lane.sums.data());
    lane.end = steady_now().value;
  });
  const auto [least, most] = std::ranges::minmax(lanes_, {}, &Lane::seconds);
  if (!(least.seconds > 0.0)) return {};
  // Threads of one CPU may work one after another, each with all of it.
  if (std::ranges::max(lanes_, {}, &Lane::begin).begin >=
      std::ranges::min(lanes_, {}, &Lane::end).end)
    return {};
  fastest_ = std::min(fastest_, least.seconds);
  return fastest_ / most.seconds;
}

}  // namespace bench
