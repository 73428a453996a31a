#include "probes/training/workloads/llm.h"

namespace bench::training {
namespace {

// The targets of presets larger than tiny need runs on a GPU.
constexpr double kProvisionalTarget = 0.25;

LlmTraining tiny_training() {
  LlmTraining training;
  Recipe& recipe = training.recipe;
  recipe.batch = 32;  // 2048 tokens
  recipe.horizon = 1953;
  recipe.schedule = {Schedule::Shape::linear_last, 4e-3, 60, recipe.horizon};
  recipe.clip = 1.0;
  recipe.target = 0.12;
  recipe.evaluation_every = 40;
  recipe.evaluation_samples = 256;
  recipe.micro_batch = 4;
  recipe.target_source = "1.3 to 1.5 x the usual gap at the horizon (docs/evidence/llm_tiny.json)";
  training.adamw.beta2 = 0.98;
  return training;
}

/// A larger preset: cosine down to a tenth of the peak, decay of matrices.
LlmTraining large_training(std::int64_t batch, std::int64_t horizon, double peak,
                           std::int64_t warmup) {
  LlmTraining training;
  Recipe& recipe = training.recipe;
  recipe.batch = batch;
  recipe.horizon = horizon;
  recipe.schedule = {Schedule::Shape::cosine, peak, warmup, horizon, 0.1};
  recipe.clip = 1.0;
  recipe.target = kProvisionalTarget;
  recipe.evaluation_every = 12;
  recipe.evaluation_samples = 1024;
  recipe.micro_batch = 1;
  training.adamw.beta2 = 0.95;
  training.adamw.decay = 0.1;
  return training;
}

}  // namespace

LlmTraining llm_training(const std::string& preset) {
  llm_preset(preset);  // throws for an unknown name
  if (preset == "tiny") return tiny_training();
  if (preset == "1b") {
    LlmTraining training = large_training(256, 1000, 3e-4, 100);
    training.recipe.device_micro_batch = 2;  // about 35 GB in bf16
    return training;
  }
  if (preset == "standard") {
    // Betas, epsilon, decay and clipping of MLPerf's llama31_8b.
    LlmTraining training = large_training(128, 1200, 4e-4, 100);
    training.adamw.epsilon = 1e-5;
    training.recipe.device_micro_batch = 1;
    return training;
  }
  LlmTraining training = large_training(512, 500, 1e-3, 50);  // small, gpt2: 0.5 M tokens
  training.recipe.micro_batch = 4;
  training.recipe.device_micro_batch = 32;  // about 20 GB in bf16
  return training;
}

}  // namespace bench::training
