#include "probes/inference/trained_llm.h"

#include <algorithm>

#include "core/json_fields.h"
#include "training/sources/grammar.h"
#include "training/trainer/trainer.h"
#include "training/workloads/token_samples.h"

namespace bench {

inference::ParameterValues TrainedLlm::values() const {
  return [this](const std::string& name, std::span<float> to) {
    const std::vector<float>& from = parameters.at(name);
    training::require(from.size() == to.size(), "trained llm", name + " has another size");
    std::ranges::copy(from, to.begin());
  };
}

TrainedLlm train_llm(const std::string& preset, std::uint64_t seed, TrainingKernels& kernels,
                     int cores, Group& group) {
  const auto workload = training::make_workload("llm", preset, seed);
  training::TrainerOptions options;
  options.recipe = workload->recipe();
  options.cores = cores;
  options.seed = seed;
  kernels.begin(true);
  training::Trainer trainer(
      *workload, options, [&](Dtype dtype) { return kernels.make(dtype); }, group);
  training::RunObserver nobody;
  const training::TrainingRun run = trainer.run(nobody);
  TrainedLlm trained{.gap = run.curve.empty() ? kNoValue : run.curve.back().gap,
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

std::unique_ptr<training::TokenSource> language_of(const training::LlmShape& shape,
                                                   std::uint64_t seed) {
  return std::make_unique<training::GrammarSource>(
      training::GrammarOptions{.vocabulary = static_cast<int>(shape.vocabulary),
                               .targets = static_cast<int>(shape.sequence),
                               .seed = seed});
}

training::Quality quality_of(inference::Decoder& decoder, std::span<const int> blocks,
                             const training::TokenSource& language, std::int64_t sequences,
                             Group& group) {
  const std::int64_t targets = language.targets();
  const std::int64_t part = std::min({targets, decoder.most_rows(), decoder.most_wanted()});
  training::TokenGaps gaps(language);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(targets + 1));
  std::vector<double> losses(static_cast<std::size_t>(targets));
  for (std::int64_t i = 0; i < sequences; ++i) {
    language.read(training::Split::evaluation, static_cast<std::uint64_t>(i), {tokens});
    for (std::int64_t first = 0; first < targets; first += part) {
      const std::int64_t count = std::min(part, targets - first);
      const inference::DecoderInput input{
          std::span(tokens).subspan(static_cast<std::size_t>(first),
                                    static_cast<std::size_t>(count)),
          first, blocks, count};
      decoder.pass(std::span(&input, 1));
      for (std::int64_t t = 0; t < count; ++t) {
        const auto at = static_cast<std::size_t>(first + t);
        losses[at] = -decoder.log_probability(t, tokens[at + 1]);
      }
    }
    gaps.add(losses.data(), static_cast<std::uint64_t>(i), 1);
  }
  gaps.sum(group);
  return gaps.quality();
}

}  // namespace bench
