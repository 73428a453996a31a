#include "tests/training/divided_training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/support/catch.h"
#include "tests/support/thread_group.h"

namespace bench::training {

TrainingRun train_divided(const ShortTraining& training, int ranks) {
  TrainingRun first;
  run_ranks(ranks, [&](Group& group) {
    TrainingRun run = train_short(training, group);
    if (group.rank() == 0) first = std::move(run);
  });
  return first;
}

double distance(const TrainingRun& a, const TrainingRun& b) {
  REQUIRE(a.steps.size() == b.steps.size());
  REQUIRE(a.curve.size() == b.curve.size());
  double most = 0.0;
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    most = std::max(most, std::abs(a.steps[i].loss / b.steps[i].loss - 1.0));
    most = std::max(most, std::abs(a.steps[i].gradient_norm / b.steps[i].gradient_norm - 1.0));
  }
  for (std::size_t i = 0; i < a.curve.size(); ++i)
    most = std::max(most, std::abs(a.curve[i].native / b.curve[i].native - 1.0));
  return most;
}

ShortTraining resumed_to_the_bit(ShortTraining training, int ranks,
                                 const std::filesystem::path& folder) {
  training.checkpoint = folder / "whole";
  training.checkpoint_every = 2;
  const TrainingRun whole = train_divided(training, ranks);
  training.checkpoint = folder / "parts";
  training.steps = 2;
  train_divided(training, ranks);
  training.steps = 0;
  training.resume = true;
  const TrainingRun resumed = train_divided(training, ranks);
  REQUIRE(resumed.first_step == 2);
  for (std::size_t i = 0; i < 2; ++i) CHECK(resumed.steps[i].loss == whole.steps[i + 2].loss);
  return training;
}

double bytes_of(const TrainingRun& run, const std::string& label) {
  const auto at = std::ranges::find(run.memory, label, &MemoryUse::label);
  REQUIRE(at != run.memory.end());
  return static_cast<double>(at->bytes);
}

double seconds_of(const TrainingRun& run, RunPhase phase) {
  for (const PhaseTime& time : run.breakdown)
    if (time.phase == phase) return time.mean.value;
  return 0.0;
}

}  // namespace bench::training
