// Finds where the steps of a training become slower and stay so, while it runs. A cumulative sum
// (Page, "Continuous inspection schemes", Biometrika 41, 1954) of the logarithm of step times rises
// only while steps are slower than usual by more than half of the change that is looked for; where
// it left zero is where the slowdown began. The same sum downwards finds its end.
#pragma once

#include <array>
#include <cstdint>
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
  /// its end, once enough steps have been fast.
  std::optional<TrainingSlowdown> after_step(std::int64_t step, const StepOutcome& outcome);
  /// The slowdown in which the training ended after this many steps, if there is one.
  std::optional<TrainingSlowdown> finish(std::int64_t steps) const;

  /// Whether steps are slow now.
  bool slow() const { return slow_.has_value(); }

 private:
  static constexpr std::size_t kPhases = 14;  // of a step
  using Times = std::array<double, kPhases>;

  struct Step {
    /// At most e times the usual time, so that a single stall weighs little more than a slow step.
    double log_time = 0.0;
    Times times = {};  // by phase
  };
  /// Steps since a sum left zero, which may turn out to be slow, or fast again.
  struct Stretch {
    std::int64_t first = 0;
    std::vector<Step> steps = {};
  };

  Step step_of(const StepOutcome& outcome) const;
  void learn(const StepOutcome& outcome);
  static Times without_stall(const Step& step);
  void follow_usual(const Step& step);
  double alarm_level() const;
  std::optional<TrainingSlowdown> watch_for_slowdown(std::int64_t number, const Step& step);
  std::optional<TrainingSlowdown> watch_for_end(std::int64_t number, const Step& step);
  double seconds_of_stretch() const;
  double change_of_stretch() const;
  void add_slow(const Step& step);
  TrainingSlowdown described(std::int64_t first) const;

  std::vector<StepOutcome> first_ = {};  // the steps learned from
  int cold_ = 0;
  double usual_ = 0.0;   // of the logarithm
  double spread_ = 0.0;  // its standard deviation, about
  Times usual_times_ = {};
  double sum_ = 0.0;      // upwards while steps are usual, downwards while they are slow
  Stretch stretch_ = {};  // since then
  // While steps are slow.
  std::optional<TrainingSlowdown> slow_ = {};
  double middle_ = 0.0;  // between usual and slow, of the logarithm
  Times slow_times_ = {};
  std::int64_t slow_steps_ = 0;
};

}  // namespace bench::training
