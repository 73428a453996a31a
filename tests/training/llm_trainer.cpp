#include "tests/training/llm_trainer.h"

#include <numeric>

#include "training/host/host_kernels.h"

namespace bench::training {
namespace {

LlmTrainerOptions completed(LlmTrainerOptions options) {
  if (!options.kernels) options.kernels = [](Dtype dtype) { return host_kernels(dtype); };
  return options;
}

GrammarOptions tiny_grammar(const LlmTrainerOptions& options) {
  GrammarOptions grammar;
  grammar.seed = options.seed;
  return grammar;
}

}  // namespace

LlmTrainer::LlmTrainer(const LlmTrainerOptions& options)
    : options_(completed(options)),
      source_(tiny_grammar(options)),
      model_(make_llm(llm_preset("tiny"),
                      options.batch / (options.ranks * options.lanes * options.micro_batches),
                      options.dtype, options.recompute)),
      plan_(make_plan(*model_.graph)),
      evaluation_(make_plan(*model_.graph, false)) {
  AdamwOptions adamw;
  adamw.beta2 = 0.98;
  replica_ =
      std::make_unique<Replica>(plan_, model_.losses, options_.kernels, make_adamw(adamw),
                                ReplicaOptions{options.lanes, options.micro_batches, options.seed});
  schedule_ = {Schedule::Shape::linear_last, 4e-3, 60, options.steps};
}

void LlmTrainer::read(Split split, std::uint64_t first, const Lane& lane,
                      std::vector<float>* oracle) const {
  const auto targets = static_cast<std::size_t>(source_.targets());
  std::int32_t tokens[65];
  float log_probability[64];
  const View inputs = lane.view(model_.tokens), wanted = lane.view(model_.targets);
  for (std::size_t i = 0; i < static_cast<std::size_t>(inputs.rows) / targets; ++i) {
    TokenSample sample{{tokens, targets + 1}};
    if (oracle) sample.log_probability = {log_probability, targets};
    source_.read(split, first + i, sample);
    std::copy(tokens, tokens + targets, inputs.as<std::int32_t>() + i * targets);
    std::copy(tokens + 1, tokens + targets + 1, wanted.as<std::int32_t>() + i * targets);
    if (oracle) oracle->insert(oracle->end(), log_probability, log_probability + targets);
  }
}

Replica::Fill LlmTrainer::fill(std::int64_t step, int rank) const {
  const std::int64_t each = options_.batch / (options_.ranks * replica_->micro_batches());
  const std::int64_t start = step * options_.batch + rank * each * replica_->micro_batches();
  return [this, each, start](const Lane& lane, int number) {
    read(Split::train, static_cast<std::uint64_t>(start + number * each), lane, nullptr);
  };
}

Replica::Step LlmTrainer::step() {
  const std::int64_t step = replica_->steps_done();
  return replica_->step(fill(step, options_.rank), rate(step), 1.0);
}

double LlmTrainer::gap(std::int64_t sequences) {
  Lane lane(evaluation_, replica_->weights(), options_.kernels);
  const std::int64_t each = lane.view(model_.tokens).rows / source_.targets();
  double loss = 0.0;
  std::vector<float> oracle;
  for (std::int64_t first = 0; first < sequences; first += each) {
    read(Split::evaluation, static_cast<std::uint64_t>(first), lane, &oracle);
    lane.forward({});
    const View losses = lane.view(model_.losses);
    loss += std::accumulate(losses.as<double>(), losses.as<double>() + losses.rows, 0.0);
  }
  const double floor = -std::accumulate(oracle.begin(), oracle.end(), 0.0);
  return (loss - floor) / static_cast<double>(oracle.size());
}

}  // namespace bench::training
