#include "probes/inference/trained_model.h"

#include <fmt/format.h>

#include "core/json_fields.h"
#include "training/trainer/trainer.h"

namespace bench {

void TrainedModel::describe(Json& facts, Json& warnings) const {
  facts.update({{"trained_steps", steps}, {"trained_gap", gap}});
  if (converged) return;
  warnings.push_back(
      fmt::format("trained: the training ended after {} steps without meeting its target, with a "
                  "gap of {:.3g}; "
                  "what is said of quality is of a model that has not learned enough",
                  steps, gap));
}

TrainedModel train_model(training::Workload& workload, std::uint64_t seed, TrainingKernels& kernels,
                         int cores, Group& group) {
  training::TrainerOptions options;
  options.recipe = workload.recipe();
  options.cores = cores;
  options.seed = seed;
  kernels.begin(true);
  training::Trainer trainer(
      workload, options, [&](Dtype dtype) { return kernels.make(dtype); }, group);
  training::RunObserver nobody;
  const training::TrainingRun run = trainer.run(nobody);
  TrainedModel trained{.gap = run.curve.empty() ? kNoValue : run.curve.back().gap,
                       .evaluated = options.recipe.evaluation_samples,
                       .steps = static_cast<std::int64_t>(run.steps.size()),
                       .converged = run.converged};
  const training::Graph& graph = *trainer.plan().graph;
  for (const int id : graph.parameters()) {
    const training::View view = trainer.replica().weights().view(trainer.plan(), id);
    const auto* values = view.as<float>();
    trained.parameters[graph.tensor(id).name].assign(values, values + view.elements());
  }
  return trained;
}

}  // namespace bench
