#include "tests/gpu/training_timing.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/elements.h"
#include "core/error.h"
#include "core/order_statistics.h"
#include "devices/host_clock.h"
#include "training/engine/replica.h"
#include "training/models/llm.h"

namespace bench::training {
namespace {

void fill_tokens(View ids, std::int64_t vocabulary, std::uint64_t seed) {
  for (std::int64_t i = 0; i < ids.elements(); ++i)
    ids.as<std::int32_t>()[i] = static_cast<std::int32_t>(
        random_bits(seed, static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(vocabulary));
}

/// A model with everything that it needs to train.
class Training {
 public:
  Training(const LlmShape& shape, std::int64_t batch, const KernelFactory& kernels, Dtype dtype)
      : shape_(shape),
        model_(make_llm(shape, batch, dtype)),
        plan_(make_plan(*model_.graph)),
        replica_(plan_, model_.losses, kernels, make_adamw({0.9, 0.95, 1e-8, 0.1}), {}) {}

  Replica::Step step() {
    const auto fill = [&](const Lane& lane, int) {
      fill_tokens(lane.view(model_.tokens), shape_.vocabulary, ++seed_);
      fill_tokens(lane.view(model_.targets), shape_.vocabulary, ++seed_);
    };
    return replica_.step(fill, 1e-3, 1.0);
  }

 private:
  LlmShape shape_;
  Llm model_;
  Plan plan_;
  Replica replica_;
  std::uint64_t seed_ = 0;
};

struct TimedModel {
  std::string name;
  LlmShape shape;
  std::int64_t batch;
};

std::vector<TimedModel> models_to_time() {
  LlmShape gpt2 = llm_preset("gpt2");
  gpt2.vocabulary = 50304;
  return {{"gpt2", gpt2, 64}, {"llama_1b", llm_preset("1b"), 4}};
}

Json time_model(const char* name, const LlmShape& shape, std::int64_t batch,
                const KernelFactory& kernels) {
  constexpr int kWarmUps = 5, kSteps = 20;
  Json row = {{"model", name}, {"batch", batch}, {"sequence", shape.sequence}};
  try {
    Training training(shape, batch, kernels, Dtype::bf16);
    for (int i = 0; i < kWarmUps; ++i) training.step();
    std::vector<double> seconds;
    for (int i = 0; i < kSteps; ++i) {
      const Seconds begin = steady_now();
      training.step();
      seconds.push_back((steady_now() - begin).value);
    }
    const double tokens = static_cast<double>(batch * shape.sequence) / median(seconds);
    row["seconds"] = seconds;
    row["tokens_per_second"] = tokens;
    row["model_flops"] = tokens * llm_flops_per_token(shape);
  } catch (const Error& error) {  // it does not fit into a smaller GPU
    row["skipped"] = error.what();
  }
  return row;
}

}  // namespace

std::vector<double> train_steps(const KernelFactory& kernels, Dtype dtype, int steps) {
  Training training(llm_preset("tiny"), 8, kernels, dtype);
  std::vector<double> seen;
  for (int i = 0; i < steps; ++i) {
    const Replica::Step step = training.step();
    seen.push_back(step.loss);
    seen.push_back(step.gradient_norm);
  }
  return seen;
}

Json time_models(const KernelFactory& kernels, const std::vector<std::string>& models) {
  Json rows = Json::array();
  for (const TimedModel& model : models_to_time())
    if (std::ranges::find(models, model.name) != models.end())
      rows.push_back(time_model(model.name.c_str(), model.shape, model.batch, kernels));
  return rows;
}

std::vector<std::string> timed_models() {
  std::vector<std::string> names;
  for (const TimedModel& model : models_to_time()) names.push_back(model.name);
  return names;
}

}  // namespace bench::training
