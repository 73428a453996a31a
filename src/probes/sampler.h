// The loop behind State::measure: warm up until steady, let the ranks agree, take samples until the
// median is known well enough or a cap is met. It sees only the device, the group and the work.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/job.h"
#include "probes/crowding.h"
#include "probes/state.h"

namespace bench {

/// What came out of one series, alike on every rank.
struct TimedSeries {
  std::vector<double> seconds;  // per call; over ranks as the timing says
  std::vector<unsigned> flags;  // SampleFlag sets
  std::vector<double> own;      // this rank's own seconds of each whole sample, where kept
  std::vector<double> clocks;   // Hz beside each batch, this rank's
  std::int64_t calls = 1;       // in one sample
  std::string stop;             // interval, max_samples, max_time
  double warm_up_s = 0.0;
  double measure_s = 0.0;
  double cpu_s = 0.0;                  // CPU time of this rank's process while measuring
  std::optional<double> others_share;  // of the machine, see probes/crowding.h
};

class Sampler {
 public:
  Sampler(Device& device, Group& group, const MeasureSettings& settings, Crowding& crowding)
      : device_(device), group_(group), settings_(settings), crowding_(crowding) {}

  TimedSeries run(const Measurement& measurement);

 private:
  struct Batch {
    std::vector<double> seconds;
    std::vector<double>
        spoiled;  // 1 where the sample is stolen, in doubles so that ranks can agree
    double clock = 0.0;
    std::array<double, 3> noted{};  // 1 for each of kNoted that was seen beside it
  };

  std::int64_t calls_per_sample(const Measurement& m);
  void warm_up(const Measurement& m, std::int64_t calls, TimedSeries& series);
  Batch take(const Measurement& m, std::int64_t calls, std::size_t count);
  double timed_sample(const Measurement& m, std::int64_t calls);
  double batch_mean(const Measurement& m, std::size_t count);
  void agree(const Measurement& m, Batch& batch);
  std::size_t batch_size(const Measurement& m, double sample_s) const;
  bool clock_moved(const Batch& batch, const TimedSeries& series);
  std::string stop_reason(const TimedSeries& series, double elapsed_s);
  double agreed_max(double value);

  Device& device_;
  Group& group_;
  const MeasureSettings& settings_;
  Crowding& crowding_;
  std::size_t looked_at_ = 0;  // samples when the interval was last computed
};

}  // namespace bench
