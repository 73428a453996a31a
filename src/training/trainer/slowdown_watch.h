// Finds where the steps of a training become slower and stay so, while it runs. A cumulative sum
// (Page, "Continuous inspection schemes", Biometrika 41, 1954) of the logarithm of step times rises
// only while steps are slower than usual by more than half of the change that is looked for; where
// it left zero is where the slowdown began.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/training_progress.h"
#include "training/parallel/data_parallel.h"

namespace bench::training {

class SlowdownWatch {
 public:
  /// The change that is looked for. Steps that are less than a fifth slower on average are not
  /// reported.
  static constexpr double kFactor = 1.25;
  /// The first steps meet cold caches; the next ones say what is usual.
  static constexpr int kColdSteps = 10, kLearnedSteps = 20;
  /// Shorter slowdowns are noise of the machine.
  static constexpr Seconds kLeastTime{2.0};

  /// Call after each step, with its number. Returns a slowdown where one is found, and again, with
  /// its end, once eight steps have been fast.
  std::optional<TrainingSlowdown> after_step(std::int64_t step, const StepOutcome& outcome);
  /// The slowdown in which the training ended, with its last step, if there is one.
  std::optional<TrainingSlowdown> finish(std::int64_t steps) const;

  /// Whether steps are slow now.
  bool slow() const { return slow_.has_value(); }

 private:
  static constexpr std::size_t kPhases = 7;  // of a step
  using Times = std::array<double, kPhases>;

  static Times times_of(const StepOutcome& outcome);
  void learn(const Times& times, double log_time);
  void follow_usual(double log_time, const Times& times);
  /// What is usual follows the steps of an excursion that was none.
  void forget_excursion();
  double alarm_level() const;
  std::optional<TrainingSlowdown> watch_usual(std::int64_t step, double log_time,
                                              const Times& times);
  std::optional<TrainingSlowdown> watch_slow(std::int64_t step, double log_time,
                                             const Times& times);
  TrainingSlowdown described() const;

  std::vector<double> first_ = {};  // logarithms of the times learned from
  int cold_ = 0;
  double usual_ = 0.0;   // of the logarithm
  double spread_ = 0.0;  // its standard deviation, about
  Times usual_times_ = {};
  double sum_ = 0.0;
  // Since the sum left zero.
  std::int64_t first_step_ = 0;
  std::vector<double> excursion_ = {};
  Times excursion_times_ = {};
  std::int64_t excursion_steps_ = 0;
  std::optional<TrainingSlowdown> slow_ = {};
  std::deque<double> latest_ = {};  // while slow
};

}  // namespace bench::training
