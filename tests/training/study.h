// For studies of whole trainings that are run by hand: what was asked for, and each evaluation.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>

#include "devices/host_clock.h"
#include "training/trainer/trainer.h"

namespace bench::training {

/// The number in a variable of the environment, or `otherwise`.
inline double asked_number(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atof(text) : otherwise;
}
inline std::int64_t asked_count(const char* name, std::int64_t otherwise) {
  return static_cast<std::int64_t>(asked_number(name, static_cast<double>(otherwise)));
}

/// Time since its construction.
class StudyClock {
 public:
  /// What the last gap took; CPU time says what a machine that others use too hides.
  void print(const TrainingRun& run) const {
    double steps = 0.0;
    for (const TrainedStep& step : run.steps) steps += step.seconds;
    const CurvePoint& last = run.curve.back();
    std::cout << "gap " << last.gap << " after " << steps << " s of steps and "
              << (steady_now() - begin_).value << " s in all, " << last.samples / steps
              << " samples/s; " << static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC
              << " CPU seconds, evaluations included\n";
  }

 private:
  Seconds begin_ = steady_now();
  std::clock_t cpu_ = std::clock();
};

/// A line for each evaluation: steps of `batch` samples, gap and parts.
struct PrintedGaps final : RunObserver {
  explicit PrintedGaps(std::int64_t samples) : batch(samples) {}
  void evaluation_stop(std::int64_t samples, const Quality& quality) override {
    std::cout << "step " << samples / batch << " gap " << quality.gap;
    for (const auto& [name, value] : quality.parts) std::cout << " " << name << " " << value;
    std::cout << "\n";
  }
  std::int64_t batch;
};

}  // namespace bench::training
