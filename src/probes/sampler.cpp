#include "probes/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/clean.h"
#include "core/order_statistics.h"

namespace bench {
namespace {

constexpr int kMinWarmUps = 3;
constexpr std::size_t kSteadyWindow = 10;
constexpr double kSteadyChange = 0.01;
constexpr double kBatchSeconds = 0.005;  // ranks agree after about this much work
constexpr std::size_t kMaxBatch = 1000;
constexpr std::array<SampleFlag, 4> kNoted = {kThermal, kPowerCapped, kCoreShared, kClockMoved};

double median_of_last(const std::vector<double>& values, std::size_t skip, std::size_t count) {
  const auto end = values.end() - static_cast<std::ptrdiff_t>(skip);
  return median(std::vector<double>(end - static_cast<std::ptrdiff_t>(count), end));
}

/// Steady: the median of the last ten samples is within 1 % of that of the ten before them.
bool steady(const std::vector<double>& samples) {
  if (samples.size() < 2 * kSteadyWindow) return false;
  const double now = median_of_last(samples, 0, kSteadyWindow);
  const double before = median_of_last(samples, kSteadyWindow, kSteadyWindow);
  return std::abs(now - before) <= kSteadyChange * before;
}

}  // namespace

TimedSeries Sampler::run(const Measurement& m) {
  TimedSeries series;
  crowding_.mark();
  const Seconds begin = device_.now();
  // The first call includes one-time setup.
  if (m.before_sample) m.before_sample();
  device_.untimed([&] { m.work(1); });
  series.calls = m.timing == Timing::isolated ? calls_per_sample(m) : 1;
  warm_up(m, series.calls, series);
  const Seconds warm = device_.now();
  const double cpu_before = device_.watch().cpu_time().value;
  const double sample_s = series.seconds.empty() ? 0.0 : median(series.seconds);
  series.seconds.clear();
  watch_.forget_clocks();
  looked_at_ = 0;
  const std::size_t count = batch_size(m, sample_s);
  while (series.stop.empty()) {
    Batch batch = take(m, series.calls, count);
    if (m.keep_ranks && m.timing == Timing::isolated)
      for (const double per_call : batch.seconds)
        series.own.push_back(per_call * static_cast<double>(series.calls));
    agree(m, batch);
    unsigned of_all = kClean;
    for (std::size_t i = 0; i < kNoted.size(); ++i)
      if (batch.noted[i] > 0.0) of_all |= kNoted[i];
    for (std::size_t i = 0; i < batch.seconds.size(); ++i) {
      series.seconds.push_back(batch.seconds[i]);
      series.flags.push_back((batch.spoiled[i] > 0.0 ? kStolen : kClean) | of_all);
    }
    series.stop = stop_reason(series, largest(group_, (device_.now() - warm).value));
  }
  series.warm_up_s = (warm - begin).value;
  series.measure_s = (device_.now() - warm).value;
  series.clocks = watch_.clocks();
  series.cpu_s = device_.watch().cpu_time().value - cpu_before;
  series.others_share = crowding_.others_share();
  if (series.others_share.value_or(0.0) > kCrowdedShare)
    for (unsigned& flags : series.flags) flags |= kCrowded;
  return series;
}

/// Doubles the calls until a sample is long enough for the clock that times it.
std::int64_t Sampler::calls_per_sample(const Measurement& m) {
  if (m.calls > 0) return m.calls;
  // The host's clock allows any number of enqueued calls.
  const bool any_number = m.host_clock || m.one_launch;
  const std::int64_t most = any_number ? kAnyNumberOfCalls : device_.most_calls();
  std::int64_t calls = 1;
  for (;;) {
    const double elapsed = largest(group_, timed_sample(m, calls) * static_cast<double>(calls));
    if (elapsed >= settings_.min_sample_s || calls >= most) return calls;
    const double wanted = settings_.min_sample_s * 1.1 / std::max(elapsed, 1e-9);
    const double grown = std::ceil(static_cast<double>(calls) * std::clamp(wanted, 1.1, 10.0));
    calls = std::min(static_cast<std::int64_t>(grown), most);
  }
}

void Sampler::warm_up(const Measurement& m, std::int64_t calls, TimedSeries& series) {
  const Seconds begin = device_.now();
  std::vector<double> samples;
  std::size_t count = 1;
  for (int round = 0;; ++round) {
    Batch batch = take(m, calls, count);
    agree(m, batch);
    samples.insert(samples.end(), batch.seconds.begin(), batch.seconds.end());
    const double elapsed = largest(group_, (device_.now() - begin).value);
    const bool enough = samples.size() >= static_cast<std::size_t>(kMinWarmUps);
    if (enough && (steady(samples) || elapsed >= settings_.warm_up_max_s)) break;
    if (round == 2) count = batch_size(m, median(samples));
  }
  const std::size_t last = std::min(samples.size(), kSteadyWindow);
  series.seconds.assign(samples.end() - static_cast<std::ptrdiff_t>(last), samples.end());
}

/// The number of samples (isolated) or calls (the other timings) between two reductions over ranks.
std::size_t Sampler::batch_size(const Measurement& m, double call_s) const {
  const double sample_s = call_s * static_cast<double>(std::max<std::int64_t>(m.calls, 1));
  if (m.timing == Timing::isolated && m.calls == 0) return 1;  // calibrated: long enough alone
  if (!(sample_s > 0.0)) return kMaxBatch;
  return static_cast<std::size_t>(
      std::clamp(kBatchSeconds / sample_s, 1.0, static_cast<double>(kMaxBatch)));
}

double Sampler::timed_sample(const Measurement& m, std::int64_t calls) {
  if (m.before_sample) m.before_sample();
  const auto piece = [&] { m.work(calls); };
  const auto meet = [&] { group_.barrier(); };
  const std::int64_t pieces = m.one_launch ? 1 : calls;
  const Seconds took = m.host_clock ? device_.Device::timed(piece, pieces, meet)
                                    : device_.timed(piece, pieces, meet);
  return took.value / static_cast<double>(calls);
}

/// The mean seconds per call over `count` calls, timed as IMB (back to back) or OSU (a barrier
/// after each) do.
double Sampler::batch_mean(const Measurement& m, std::size_t count) {
  const auto calls = static_cast<std::int64_t>(count);
  double sum = 0.0;
  group_.barrier();
  if (m.timing == Timing::pipelined)
    return device_.timed([&] { m.work(calls); }, calls).value / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    sum += device_.timed([&] { m.work(1); }, 1).value;
    group_.barrier();
  }
  return sum / static_cast<double>(count);
}

Sampler::Batch Sampler::take(const Measurement& m, std::int64_t calls, std::size_t count) {
  Batch batch;
  const std::size_t samples = m.timing == Timing::isolated ? count : 1;
  batch.seconds.reserve(samples);
  batch.spoiled.reserve(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    watch_.begin();
    const Seconds begin = device_.now();
    const double per_call =
        m.timing == Timing::isolated ? timed_sample(m, calls) : batch_mean(m, count);
    const double whole = m.timing == Timing::isolated ? per_call * static_cast<double>(calls)
                                                      : (device_.now() - begin).value;
    batch.seconds.push_back(per_call);
    batch.spoiled.push_back(watch_.stolen(Seconds{whole}) != 0 ? 1.0 : 0.0);
  }
  const auto clock = m.clock ? m.clock() : device_.clock();
  const unsigned noted = watch_.slowed(clock, m.core_share ? m.core_share() : std::nullopt);
  for (std::size_t i = 0; i < kNoted.size(); ++i)
    batch.noted[i] = (noted & kNoted[i]) != 0 ? 1.0 : 0.0;
  return batch;
}

/// Makes the batch the same on all ranks: the slowest rank's time, or the mean for the other
/// timings.
void Sampler::agree(const Measurement& m, Batch& batch) {
  if (group_.size() == 1) return;
  if (m.timing == Timing::isolated) {
    group_.max(batch.seconds);
  } else {
    group_.sum(batch.seconds);
    for (double& value : batch.seconds) value /= group_.size();
  }
  // One reduction for both.
  batch.spoiled.insert(batch.spoiled.end(), batch.noted.begin(), batch.noted.end());
  group_.max(batch.spoiled);
  std::copy(batch.spoiled.end() - batch.noted.size(), batch.spoiled.end(), batch.noted.begin());
  batch.spoiled.resize(batch.seconds.size());
}

std::string Sampler::stop_reason(const TimedSeries& series, double elapsed_s) {
  const std::size_t n = series.seconds.size();
  if (elapsed_s >= settings_.max_time_s) return "max_time";
  if (n >= static_cast<std::size_t>(settings_.max_samples)) return "max_samples";
  const std::size_t clean = count_clean(series.flags);
  if (elapsed_s < settings_.min_time_s || clean < static_cast<std::size_t>(settings_.min_clean))
    return "";
  if (n < looked_at_ + looked_at_ / 10)
    return "";  // sorting after every sample would be too expensive
  looked_at_ = n;
  const std::vector<double> values = representative(series.seconds, series.flags);
  const auto interval = median_interval(values);
  if (!interval) return "";
  const double half_width = (interval->high - interval->low) / 2;
  return half_width < settings_.interval * median(values) ? "interval" : "";
}

}  // namespace bench
