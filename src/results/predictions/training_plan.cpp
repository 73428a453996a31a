#include "results/predictions/training_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kMostChoices = 8;
constexpr int kMostContexts = 64;
// Of a sequence on a device of a context-parallel group: GEMMs of fewer rows are slower, of which a
// prediction by one rate knows nothing.
constexpr double kLeastTokens = 4096.0;

struct Choice {
  TrainingSplit split = {};
  double micro_batch = 1.0;
  Recompute recompute = Recompute::none;
  double step_s = 0.0, memory_bytes = 0.0;

  std::string text() const {
    std::string words = to_string(split);
    if (micro_batch > 1) words += fmt::format(", micro batch {:g}", micro_batch);
    if (recompute != Recompute::none)
      words += ", recompute " + std::string(kRecomputes.name(recompute));
    return words;
  }
};

std::vector<int> divisors(int number, int most) {
  std::vector<int> found;
  for (int one = 1; one <= std::min(number, most); ++one)
    if (number % one == 0) found.push_back(one);
  return found;
}

TrainingMemoryQuestion memory_of(const PlanQuestion& question, const Choice& choice) {
  TrainingMemoryQuestion memory{.model = question.model, .split = choice.split};
  memory.micro_batch = choice.micro_batch;
  memory.micro_batches = question.global_batch / (choice.split.data * choice.micro_batch);
  memory.sequence = question.sequence;
  memory.optimizer_bytes = question.optimizer_bytes;
  memory.recompute = choice.recompute;
  return memory;
}

StepQuestion step_of(const PlanQuestion& question, const Choice& choice) {
  StepQuestion step{.model = question.model, .split = choice.split};
  step.global_batch = question.global_batch;
  step.micro_batch = choice.micro_batch;
  step.sequence = question.sequence;
  step.compute = question.compute;
  step.recompute = choice.recompute;
  // A group reaches over so many neighbouring ranks.
  const auto bandwidth_over = [&](int ranks) {
    const bool inside =
        question.devices <= question.devices_per_node || question.devices_per_node % ranks == 0;
    return inside ? question.node_bytes_per_second : question.between_bytes_per_second;
  };
  const TrainingSplit& split = choice.split;
  step.tensor_bytes_per_second = bandwidth_over(split.tensor);
  step.context_bytes_per_second = bandwidth_over(split.tensor * split.context);
  step.expert_bytes_per_second = bandwidth_over(split.expert);
  step.data_bytes_per_second = bandwidth_over(split.tensor * split.context * split.data);
  step.overlap = question.overlap;
  return step;
}

/// Degrees of tensor, context, pipeline and expert parallelism that the model and the number of
/// devices allow; the rest is data parallelism.
std::vector<TrainingSplit> all_splits(const PlanQuestion& question) {
  const double sequence = question.model.tokens_or(question.sequence);
  const int most_experts =
      question.model.experts ? static_cast<int>(question.model.experts->count) : 1;
  std::vector<TrainingSplit> splits;
  for (const int tensor : divisors(question.devices, question.devices_per_node)) {
    if (std::fmod(question.model.heads, tensor) != 0.0) continue;
    for (const int context : divisors(question.devices / tensor, kMostContexts)) {
      // Two chunks for each (training/engine/context_part.h), and no fewer tokens than this.
      if (context > 1 &&
          (std::fmod(sequence, 2 * context) != 0.0 || sequence < kLeastTokens * context))
        continue;
      const int of_stages = question.devices / tensor / context;
      for (const int pipeline : divisors(of_stages, static_cast<int>(question.model.layers))) {
        const int data = of_stages / pipeline;
        for (const int expert : divisors(tensor * context * data, most_experts))
          if (most_experts % expert == 0)
            splits.push_back({tensor, pipeline, data, context, expert});
      }
    }
  }
  return splits;
}

/// All that the model and the numbers of devices and sequences allow.
std::vector<Choice> all_choices(const PlanQuestion& question) {
  std::vector<Choice> choices;
  for (const TrainingSplit& split : all_splits(question)) {
    const int replicas = split.data * split.context;
    for (const double micro_batch : {1.0, 2.0, 4.0, 8.0}) {
      if (std::fmod(question.global_batch, split.data * micro_batch) != 0.0) continue;
      for (const int zero : {1, 2, 3}) {
        // With a pipeline, gradients are used in every micro batch: only stage 1 is common.
        if ((zero > 1 && split.pipeline > 1) || (zero > 1 && replicas == 1)) continue;
        for (const Recompute recompute : {Recompute::none, Recompute::full}) {
          choices.push_back({.split = split, .micro_batch = micro_batch, .recompute = recompute});
          choices.back().split.zero = replicas > 1 ? zero : 0;
        }
      }
    }
  }
  return choices;
}

void demand_inputs(const PlanQuestion& question) {
  if (!(question.node_bytes_per_second > 0.0) || !(question.between_bytes_per_second > 0.0))
    throw Error(ErrorKind::input, "the bandwidth between devices is missing",
                "give --node-bandwidth and --between-bandwidth in bytes per second");
  if (question.devices > question.devices_per_node &&
      question.devices % question.devices_per_node != 0)
    throw Error(ErrorKind::input,
                fmt::format("{} devices are no whole number of nodes of {}", question.devices,
                            question.devices_per_node),
                "change --devices or --per-node");
}

/// Those that fit, the fastest first; `least` becomes the smallest memory of any.
std::vector<Choice> fitting_choices(const PlanQuestion& question, double& least) {
  const double room = question.device_memory_bytes * question.usable;
  std::vector<Choice> fitting;
  for (Choice& choice : all_choices(question)) {
    choice.memory_bytes = predict_training_memory(memory_of(question, choice)).value;
    least = std::min(least, choice.memory_bytes);
    if (choice.memory_bytes > room) continue;
    choice.step_s = predict_step(step_of(question, choice)).value;
    fitting.push_back(choice);
  }
  std::ranges::stable_sort(
      fitting, {}, [](const Choice& one) { return std::pair(one.step_s, one.memory_bytes); });
  return fitting;
}

}  // namespace

Prediction predict_plan(const PlanQuestion& question) {
  demand_inputs(question);
  double least = std::numeric_limits<double>::infinity();
  const std::vector<Choice> choices = fitting_choices(question, least);
  if (choices.empty())
    throw Error(ErrorKind::input,
                std::isfinite(least)
                    ? fmt::format("no split fits: the smallest needs {} of the {} that may be used",
                                  format(Bytes{least}),
                                  format(Bytes{question.device_memory_bytes * question.usable}))
                    : fmt::format("no split of {} devices divides a batch of {} sequences",
                                  question.devices, question.global_batch),
                "take more devices, or another batch");
  const Choice& best = choices.front();
  Prediction answer = predict_step(step_of(question, best));
  answer.question = "plan";
  answer.what = "time of a step with " + best.text();
  answer.input("devices", question.devices, "given");
  answer.input("devices_per_node", question.devices_per_node, "given");
  answer.input("device_memory_bytes", question.device_memory_bytes, question.device,
               PredictedUnit::bytes);
  answer.input("overlap", question.overlap, "given or default");
  answer.part("memory_bytes", best.memory_bytes);
  const double sequence = question.model.tokens_or(question.sequence);
  const double a_step = question.global_batch * sequence;
  if (question.tokens > 0.0)
    answer.part("days", question.tokens / a_step * answer.value / kSecondsOfDay,
                PredictedUnit::count);
  for (const Choice& choice : choices) {
    if (answer.choices.size() == kMostChoices) break;
    answer.choices.push_back(
        {choice.text(), choice.step_s, choice.memory_bytes, a_step / choice.step_s});
  }
  answer.formula += "; of all splits that fit into the memory, the least";
  answer.notes.push_back(fmt::format(
      "{} splits fit; pipelines with interleaved chunks were not tried", choices.size()));
  return answer;
}

}  // namespace bench
