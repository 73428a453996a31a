// What making batches costs, by stages.
#pragma once

#include <time.h>

#include <array>
#include <cstdint>

#include "core/names.h"
#include "probes/host_clock.h"

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
  double bytes_read = 0.0;  // what was asked of files, headers included
  double samples = 0.0;
  double cpu_s = 0.0;  // all that the threads computed, between stages too

  Effort& operator+=(const Effort& other);
  double stages_cpu_s() const;
  const StageTime& of(Stage stage) const { return stages.at(static_cast<std::size_t>(stage)); }
};

inline Effort& Effort::operator+=(const Effort& other) {
  for (std::size_t i = 0; i < kStageCount; ++i) {
    stages.at(i).wall_s += other.stages.at(i).wall_s;
    stages.at(i).cpu_s += other.stages.at(i).cpu_s;
  }
  bytes_read += other.bytes_read;
  samples += other.samples;
  cpu_s += other.cpu_s;
  return *this;
}

inline double Effort::stages_cpu_s() const {
  double sum = 0.0;
  for (const StageTime& stage : stages) sum += stage.cpu_s;
  return sum;
}

/// Adds what passed since it was made, or since the last end(), to a stage.
class StageClock {
 public:
  explicit StageClock(Effort& effort) : effort_(effort), wall_(steady_now()), cpu_(thread_time()) {}

  void end(Stage stage) {
    const Seconds wall = steady_now(), cpu = thread_time();
    StageTime& time = effort_.stages.at(static_cast<std::size_t>(stage));
    time.wall_s += (wall - wall_).value;
    time.cpu_s += (cpu - cpu_).value;
    wall_ = wall;
    cpu_ = cpu;
  }

 private:
  static Seconds thread_time() { return cpu_time_of(CLOCK_THREAD_CPUTIME_ID); }

  Effort& effort_;
  Seconds wall_, cpu_;
};

}  // namespace bench::data
