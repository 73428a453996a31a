// The cost of making batches, by stage.
#pragma once

#include <time.h>

#include <array>

#include "core/names.h"
#include "devices/host_clock.h"

namespace bench::data {

enum class Stage { order, read, decode, resize, normalise, parse, transform, copy };

inline constexpr NameTable<Stage, 8> kStages{{{{Stage::order, "order"},
                                               {Stage::read, "read"},
                                               {Stage::decode, "decode"},
                                               {Stage::resize, "resize"},
                                               {Stage::normalise, "normalise"},
                                               {Stage::parse, "parse"},
                                               {Stage::transform, "transform"},
                                               {Stage::copy, "copy"}}}};
inline constexpr std::size_t kStageCount = kStages.entries.size();

struct StageTime {
  double wall_s = 0.0;
  double cpu_s = 0.0;  // of the thread
};

/// Sums over batches.
struct Effort {
  std::array<StageTime, kStageCount> stages = {};
  double bytes_read = 0.0;  // requested from files, including headers
  double samples = 0.0;
  double cpu_s = 0.0;  // of the threads: in the stages and between them

  Effort& operator+=(const Effort& other) {
    for (std::size_t i = 0; i < kStageCount; ++i) {
      stages.at(i).wall_s += other.stages.at(i).wall_s;
      stages.at(i).cpu_s += other.stages.at(i).cpu_s;
    }
    bytes_read += other.bytes_read;
    samples += other.samples;
    cpu_s += other.cpu_s;
    return *this;
  }
  double stages_cpu_s() const {
    double sum = 0.0;
    for (const StageTime& stage : stages) sum += stage.cpu_s;
    return sum;
  }
  const StageTime& of(Stage stage) const { return stages.at(static_cast<std::size_t>(stage)); }
};

/// For one thread. Stages follow each other without a gap, so each boundary is read once: reading a
/// thread's CPU time is a system call, which is noticeable in a batch of some microseconds.
class StageClock {
 public:
  /// Starts the clock of the calling thread.
  StageClock() : wall_(steady_now()), cpu_(thread_time()) {}

  /// From here on counts for `effort`. The thread's CPU time since the last stage, such as looking
  /// for work, counts as well, for no stage; the wall time does not.
  void begin(Effort& effort) {
    effort_ = &effort;
    const Seconds cpu = thread_time();
    effort.cpu_s += (cpu - cpu_).value;
    cpu_ = cpu;
    wall_ = steady_now();
  }
  /// As begin(), without the time before: for threads that do other things between batches.
  void begin_anew(Effort& effort) {
    effort_ = &effort;
    cpu_ = thread_time();
    wall_ = steady_now();
  }

  /// Adds the time since begin(), or since the last end(), to a stage.
  void end(Stage stage) {
    const Seconds wall = steady_now(), cpu = thread_time();
    StageTime& time = effort_->stages.at(static_cast<std::size_t>(stage));
    time.wall_s += (wall - wall_).value;
    time.cpu_s += (cpu - cpu_).value;
    effort_->cpu_s += (cpu - cpu_).value;
    wall_ = wall;
    cpu_ = cpu;
  }

  void count_samples(std::size_t samples) { effort_->samples += static_cast<double>(samples); }
  void count_read(std::size_t bytes) { effort_->bytes_read += static_cast<double>(bytes); }
  void count_read(double bytes) { effort_->bytes_read += bytes; }

 private:
  static Seconds thread_time() { return cpu_time_of(CLOCK_THREAD_CPUTIME_ID); }

  Effort* effort_ = nullptr;
  Seconds wall_, cpu_;
};

}  // namespace bench::data
