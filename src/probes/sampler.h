// The loop behind State::measure: warms up until steady, synchronises the ranks, and takes samples
// until the median is accurate enough or a cap is reached. It knows only the device, the group and
// the work.
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
#include "probes/sample_watch.h"

namespace bench {

/// The work to be timed, done `calls` times on this rank. No allocation, logging or I/O inside.
using Work = std::function<void(std::int64_t calls)>;

/// How ranks are timed. `isolated` is the measuring rule; the others reproduce other tools, so that
/// results can be compared, and are labelled as such.
enum class Timing {
  isolated,   // a barrier before each sample; per sample the maximum over ranks
  pipelined,  // IMB, nccl-tests: calls back to back; a sample is the mean time of a batch, mean
              // over ranks
  osu  // OSU: each call timed, a barrier after it; a sample is the mean of a batch, mean over ranks
};

/// A ceiling in work per core cycle: the limit is this times the clock measured during the series,
/// because cores run heavy vector code at a lower clock.
struct CycleLimit {
  double per_cycle = 0.0;  // of all threads together, in the metric's unit of work
  LimitKind kind = LimitKind::proven;
  std::string source;
};

/// One metric derived from the timed seconds per call.
struct Report {
  std::string metric;
  /// Bytes or operations of one call: amount / seconds is reported. Nothing: seconds.
  std::optional<double> amount = {};
  std::optional<Limit> limit = {};
  std::optional<Unit> unit = {};  // if it differs from the declared one (op_per_second)
  std::optional<CycleLimit> cycle_limit = {};  // used if a clock was measured
};

struct Measurement {
  Json params = Json::object();  // what distinguishes this series inside the job
  Work work;
  std::vector<Report> reports;
  std::function<Check()> verify;  // checks the output of the last timed call, on this rank
  /// The choices of a library, queried after the last sample; see Samples::chosen.
  std::function<Json()> chosen = {};
  /// The clock under this kind of load, queried right after each sample; else the device's own.
  std::function<std::optional<Hertz>()> clock = {};
  /// The smallest share of a core that any measuring thread has, queried right after each sample:
  /// samples of threads that share a core are not clean. Nothing: unknown.
  std::function<std::optional<double>()> core_share = {};
  std::function<void()> before_sample = {};  // untimed, before the barrier; isolated timing only
  Timing timing = Timing::isolated;
  std::int64_t calls = 0;  // per sample; 0: as many as fill min_sample_s
  int threads = 1;         // that work on this rank
  /// The host's time is measured, not the device's: uses the host's clock.
  bool host_clock = false;
  /// All calls of a sample are one launch: a kernel that makes them in a loop.
  bool one_launch = false;
  /// Also keeps the times of each rank, not only the slowest; isolated timing only.
  bool keep_ranks = false;
};

/// The result of one series, the same on every rank.
struct TimedSeries {
  std::vector<double> seconds;  // per call; over ranks according to the timing
  std::vector<unsigned> flags;  // SampleFlag sets
  std::vector<double> own;      // seconds of each whole sample on this rank, if kept
  std::vector<double> clocks;   // Hz during each batch, on this rank
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
      : device_(device),
        group_(group),
        settings_(settings),
        crowding_(crowding),
        watch_(device, device.watch()) {}

  TimedSeries run(const Measurement& measurement);

 private:
  struct Batch {
    std::vector<double> seconds;
    std::vector<double> spoiled;    // 1 for a stolen sample; doubles, for reductions over ranks
    std::array<double, 4> noted{};  // 1 for each of kNoted that occurred
  };

  std::int64_t calls_per_sample(const Measurement& m);
  void warm_up(const Measurement& m, std::int64_t calls, TimedSeries& series);
  Batch take(const Measurement& m, std::int64_t calls, std::size_t count);
  double timed_sample(const Measurement& m, std::int64_t calls);
  double batch_mean(const Measurement& m, std::size_t count);
  void agree(const Measurement& m, Batch& batch);
  std::size_t batch_size(const Measurement& m, double sample_s) const;
  std::string stop_reason(const TimedSeries& series, double elapsed_s);

  Device& device_;
  Group& group_;
  const MeasureSettings& settings_;
  Crowding& crowding_;
  SampleWatch watch_;
  std::size_t looked_at_ = 0;  // samples when the interval was last computed
};

}  // namespace bench
