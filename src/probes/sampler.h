// The loop behind State::measure: warm up until steady, let the ranks agree, take samples until the
// median is known well enough or a cap is met. It sees only the device, the group and the work.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/job.h"
#include "core/record.h"
#include "devices/crowding.h"
#include "devices/device.h"
#include "devices/group.h"

namespace bench {

/// The work to be timed, done `calls` times on this rank. No allocation, logging or I/O inside.
using Work = std::function<void(std::int64_t calls)>;

/// How ranks are timed. `isolated` is the measuring rule; the others reproduce what other tools do,
/// so that numbers can be compared, and are labelled as such.
enum class Timing {
  isolated,   // a barrier before each sample; per sample the maximum over ranks
  pipelined,  // IMB, nccl-tests: calls back to back; a sample is the mean time of a batch, mean
              // over ranks
  osu  // OSU: each call timed, a barrier after it; a sample is the mean of a batch, mean over ranks
};

/// A ceiling in work per cycle of the core's clock: the limit is this times the clock measured
/// during the series. Cores run heavy vector code at a lower clock, so no other clock is fair.
struct CycleLimit {
  double per_cycle = 0.0;  // of all threads together, in the metric's unit of work
  LimitKind kind = LimitKind::proven;
  std::string source;
};

/// One metric derived from the timed seconds per call.
struct Report {
  std::string metric;
  /// What one call amounts to (bytes, operations): reported is amount / seconds. Nothing: seconds.
  std::optional<double> amount = {};
  std::optional<Limit> limit = {};
  std::optional<Unit> unit = {};  // where it differs from the declared one (op_per_second)
  std::optional<CycleLimit> cycle_limit = {};  // used where a clock was measured
};

struct Measurement {
  Json params = Json::object();  // what distinguishes this series inside the job
  Work work;
  std::vector<Report> reports;
  std::function<Check()> verify;  // looks at the output of the last timed call, on this rank
  /// What a library chose by itself, asked for after the last sample; see Samples::chosen.
  std::function<Json()> chosen = {};
  /// The clock under this kind of load, asked for right after each sample; else the device's own.
  std::function<std::optional<Hertz>()> clock = {};
  /// The smallest share of a core that any measuring thread has just then, asked for right after
  /// each sample: samples of threads that shared theirs are not clean. Nothing: not known.
  std::function<std::optional<double>()> core_share = {};
  std::function<void()> before_sample = {};  // untimed, before the barrier; isolated timing only
  Timing timing = Timing::isolated;
  std::int64_t calls = 0;  // in one sample; 0: as many as fill min_sample_s
  int threads = 1;         // that work on this rank
  /// What the host needs is measured, not what the device does: timed by the host's clock.
  bool host_clock = false;
  /// All calls of a sample are enqueued as one: a kernel that makes them in a loop.
  bool one_launch = false;
  /// Each rank's own times are kept alongside the slowest rank's; isolated timing only.
  bool keep_ranks = false;
};

/// What came out of one series, alike on every rank.
struct TimedSeries {
  std::vector<double> seconds;  // per call; over ranks as the timing says
  std::vector<unsigned> flags;  // SampleFlag sets
  std::vector<double> own;      // this rank's own seconds of each whole sample, where kept
  std::vector<double> clocks;   // Hz alongside each batch, this rank's
  std::int64_t calls = 1;       // in one sample
  std::string stop;             // interval, max_samples, max_time
  double warm_up_s = 0.0;
  double measure_s = 0.0;
  double cpu_s = 0.0;                  // CPU time of this rank's process while measuring
  std::optional<double> others_share;  // of the machine, see devices/crowding.h
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
    std::array<double, 3> noted{};  // 1 for each of kNoted that was seen alongside it
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

  Device& device_;
  Group& group_;
  const MeasureSettings& settings_;
  Crowding& crowding_;
  std::size_t looked_at_ = 0;  // samples when the interval was last computed
};

}  // namespace bench
