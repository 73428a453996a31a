// The schedule of a step next to the calls that a training makes.
#include <algorithm>
#include <string>
#include <vector>

#include "probes/traffic/traffic_step.h"
#include "tests/probes/traffic/logged_calls.h"
#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/short_training.h"
#include "training/host/host_kernels.h"
#include "training/workloads/llm.h"

namespace bench {
namespace {

using Log = LoggedCalls::Log;

constexpr std::int64_t kSteps = 2, kBatch = 8;

struct TrainedSplit {
  int tp, pp, ranks;
  int zero = 0;
  bool sequence_parallel = false;
  bool gpipe = false;
  int cp = 1;
  std::int64_t vocabulary = 64;
};

training::ShortTraining training_of(const TrainedSplit& split) {
  training::ShortTraining training;
  training.recipe = training::short_recipe(kSteps, 0.0);
  training.recipe.batch = kBatch;
  training.recipe.evaluation_samples = 4;
  training.recipe.micro_batch = 1;
  training.lanes = 1;
  training.split = {split.tp, split.pp};
  if (split.gpipe) training.split.schedule = training::PipelineSchedule::gpipe;
  training.split.sequence_parallel = split.sequence_parallel;
  training.parallel.shard_optimizer = split.zero == 1;
  training.parallel.bucket_bytes = 1 << 17;  // several buckets
  training.split.shard_parameters = split.zero > 1;
  training.split.keep_gathered = split.zero == 2;
  training.split.context = split.cp;
  if (split.vocabulary != 64)
    training.make = [split] {
      training::LlmSetting setting{.preset = "tokens", .training = training::llm_training("tiny")};
      setting.shape = training::llm_preset("tiny");
      setting.shape.vocabulary = split.vocabulary;
      return training::make_llm_workload_from(setting);
    };
  return training;
}

std::vector<Log> trained_calls(const TrainedSplit& split) {
  std::vector<Log> logs(static_cast<std::size_t>(split.ranks));
  run_ranks(split.ranks, [&](Group& group) {
    LoggedCalls logged(group, logs[static_cast<std::size_t>(group.rank())]);
    train_short(training_of(split), logged);
  });
  return logs;
}

std::vector<Log> twin_calls(const TrainedSplit& split) {
  std::vector<Log> logs(static_cast<std::size_t>(split.ranks));
  run_ranks(split.ranks, [&](Group& group) {
    LoggedCalls logged(group, logs[static_cast<std::size_t>(group.rank())]);
    StepSettings settings;
    settings.model = named_traffic_model("tiny");
    settings.model.vocabulary = split.vocabulary;
    settings.split = {.tensor = split.tp,
                      .pipeline = split.pp,
                      .context = split.cp,
                      .sequence_parallel = split.sequence_parallel,
                      .zero = split.zero};
    if (split.gpipe) settings.split.schedule = training::PipelineSchedule::gpipe;
    settings.micro_batches = kBatch / (split.ranks / split.tp / split.cp / split.pp);
    settings.bucket_bytes = 1 << 17;
    settings.overlap = false;
    const TrafficPlace place = traffic_place(settings.split, group.rank(), group.size());
    const StepSchedule schedule = make_step_schedule(settings, place);
    const TrafficGroups groups(logged, settings.split, place);
    const training::KernelSet kernels = training::host_kernels(Dtype::f32);
    ComputeStandIn computation(schedule, kernels, Dtype::f32, {}, 1);
    TrafficStep step(schedule, groups, kernels, computation, Dtype::f32, false, false, 1);
    step.run(TrafficSelection::step());
    if (step.wrong(TrafficSelection::step()) > 0.0)
      throw Error(ErrorKind::internal, "a message is wrong");
  });
  return logs;
}

/// How often a log has these calls, one directly after the other.
int occurrences(const Log& log, const Log& calls) {
  int found = 0;
  for (auto at = log.begin();;) {
    at = std::search(at, log.end(), calls.begin(), calls.end());
    if (at == log.end() || calls.empty()) return found;
    ++found;
    at += static_cast<std::ptrdiff_t>(calls.size());
  }
}

/// The first call of the twin that the training does not make there.
std::string first_difference(const Log& trained, const Log& twin) {
  std::size_t best = 0;
  std::string text;
  for (std::size_t at = 0; at < trained.size(); ++at) {
    std::size_t same = 0;
    while (same < twin.size() && at + same < trained.size() && trained[at + same] == twin[same])
      ++same;
    if (same < best || same == 0) continue;
    best = same;
    text = fmt::format("call {} of {}: the twin makes {}, the training {}", same, twin.size(),
                       same < twin.size() ? twin[same] : "no more",
                       at + same < trained.size() ? trained[at + same] : "no more");
  }
  return text;
}

}  // namespace

TEST_CASE("each rank of a twin makes the calls of a training's steps, in their order and sizes") {
  const TrainedSplit splits[] = {{1, 1, 4},
                                 {2, 1, 4},
                                 {4, 1, 4},
                                 {2, 1, 2, 0, true},
                                 {1, 2, 4},
                                 {1, 2, 2, 0, false, true},
                                 {2, 2, 4},
                                 {2, 2, 4, 0, true},
                                 {1, 1, 4, 1},
                                 {2, 1, 4, 1},
                                 {1, 1, 2, 2},
                                 {1, 1, 4, 3},
                                 {1, 2, 4, 3},
                                 {2, 1, 4, 3, true},
                                 {1, 1, 2, 0, false, false, 2},
                                 {1, 1, 4, 0, false, false, 4},
                                 {2, 1, 8, 1, true, false, 2},
                                 {1, 2, 4, 3, false, true, 2},
                                 {2, 1, 4, 3, true, false, 1, 65}};
  for (const TrainedSplit& split : splits) {
    INFO("tp " << split.tp << ", pp " << split.pp << ", " << split.ranks << " ranks, zero "
               << split.zero << ", sp " << split.sequence_parallel << ", cp " << split.cp
               << ", vocabulary " << split.vocabulary);
    const std::vector<Log> trained = trained_calls(split), twin = twin_calls(split);
    for (std::size_t rank = 0; rank < twin.size(); ++rank) {
      INFO("rank " << rank << ": " << first_difference(trained[rank], twin[rank]));
      REQUIRE(!twin[rank].empty());
      CHECK(occurrences(trained[rank], twin[rank]) >= kSteps);
    }
  }
}

}  // namespace bench
