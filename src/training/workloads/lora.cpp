#include "training/workloads/lora.h"

#include <utility>

#include "core/error.h"

namespace bench::training {
namespace {

/// Of the base's training samples: the same base for all seeds of adapters, on samples that no
/// adapter sees.
constexpr std::uint64_t kBaseSeed = 0x6c6f7261;

LoraSetting tiny_lora() {
  LoraSetting setting;
  setting.base = base_training(llm_training("tiny"), 700);  // 1.4 million tokens
  setting.training = llm_training("tiny");
  Recipe& recipe = setting.training.recipe;
  recipe.horizon = 1000;
  recipe.schedule = {Schedule::Shape::linear_last, 4e-3, 20, recipe.horizon};
  recipe.target = 0.17;
  recipe.target_source =
      "1.3 x the usual gap at the horizon, a third of the unadapted base's 0.52; "
      "docs/workloads/lora.md";
  return setting;
}

/// Adapters with the settings of MLPerf's llama2_70b_lora: batch, optimizer, rate, clipping; an
/// evaluation every 48 steps. Its dropout of 0.1 is left out: no sample is seen twice.
LoraSetting large_lora(const std::string& base) {
  LoraSetting setting;
  const LlmTraining training = llm_training(base);
  setting.base = base_training(training, training.recipe.horizon);
  Recipe& recipe = setting.training.recipe;
  recipe.batch = 8;
  recipe.horizon = 1024;
  recipe.schedule = {Schedule::Shape::cosine, 4e-4, 0, recipe.horizon};
  recipe.clip = 0.3;
  recipe.target = 0.25;
  recipe.evaluation_every = 48;
  recipe.evaluation_samples = 168;
  recipe.micro_batch = recipe.device_micro_batch = 1;
  setting.training.adamw.decay = 1e-4;
  return setting;
}

LlmSetting base_setting(const std::string& preset, const LoraSetting& setting) {
  LlmSetting base{.preset = preset, .shape = setting.shape.base, .training = setting.base};
  base.language.seed = kBaseSeed;
  return base;
}

LlmSetting task_setting(const std::string& preset, const LoraSetting& setting, std::uint64_t seed) {
  LlmSetting task{.preset = preset, .shape = setting.shape.base, .training = setting.training};
  task.language.redrawn_factors = kDialectRank;
  task.language.seed = seed;
  return task;
}

/// An llm on the dialect whose model is the adapted base.
class LoraWorkload final : public Workload {
 public:
  LoraWorkload(const LoraSetting& setting, std::unique_ptr<Workload> llm)
      : shape_(setting.shape),
        llm_(std::move(llm)),
        flops_(lora_flops_per_token(shape_) * static_cast<double>(shape_.base.sequence)) {}

  std::string name() const override { return "lora"; }
  std::string preset() const override { return llm_->preset(); }
  const Recipe& recipe() const override { return llm_->recipe(); }
  std::string item() const override { return llm_->item(); }
  std::int64_t items_per_sample() const override { return llm_->items_per_sample(); }
  double flops_per_sample() const override { return flops_; }

  Model model(std::int64_t samples, Dtype dtype, bool recompute) const override {
    Llm lora = make_lora(shape_, samples, dtype, recompute);
    return {std::move(lora.graph), lora.losses, {lora.tokens, lora.targets}, {}};
  }
  Model unadapted_model(std::int64_t samples, Dtype dtype, bool recompute) const override {
    return llm_->model(samples, dtype, recompute);
  }
  std::unique_ptr<Optimizer> optimizer() const override { return llm_->optimizer(); }
  Json optimizer_options() const override {
    Json options = llm_->optimizer_options();
    options["lora_rank"] = shape_.rank;
    options["lora_alpha"] = shape_.alpha;
    return options;
  }

  void read(Split split, std::uint64_t first, const Model& model, const Lane& lane) const override {
    llm_->read(split, first, model, lane);
  }
  std::uint64_t checksum(Split split, std::uint64_t first, std::int64_t count) const override {
    return llm_->checksum(split, first, count);
  }
  std::unique_ptr<Evaluation> evaluation(const Model& model) const override {
    return llm_->evaluation(model);
  }
  Json data() const override { return llm_->data(); }
  bool repeats() const override { return llm_->repeats(); }

 private:
  LoraShape shape_;
  std::unique_ptr<Workload> llm_;
  double flops_;
};

void refuse_files(const DataChoice& data) {
  if (data.from_files() || !data.evaluation.empty())
    throw Error(ErrorKind::input, "workload lora reads no files: its base knows one language",
                "remove the parameters data and evaluation_data");
}

LoraSetting shortened(LoraSetting setting, const std::string& preset, std::int64_t sequence) {
  const std::int64_t full = setting.shape.base.sequence;
  setting.shape.base = with_sequence(setting.shape.base, "lora " + preset, sequence);
  if (setting.shape.base.sequence != full) setting.training.recipe.target_source.clear();
  return setting;
}

}  // namespace

LoraSetting lora_setting(const std::string& preset) {
  const LoraShape shape = lora_preset(preset);  // throws for an unknown name
  LoraSetting setting = preset == "tiny"    ? tiny_lora()
                        : preset == "small" ? large_lora("small")
                                            : large_lora("standard");
  setting.shape = shape;
  return setting;
}

std::unique_ptr<Workload> make_lora_workload_from(const std::string& preset,
                                                  const LoraSetting& setting, std::uint64_t seed,
                                                  const DataChoice& data) {
  refuse_files(data);
  return std::make_unique<LoraWorkload>(
      setting, make_llm_workload_from(task_setting(preset, setting, seed), data));
}

std::unique_ptr<Workload> make_lora_workload(const std::string& preset, std::uint64_t seed,
                                             std::int64_t sequence, const DataChoice& data) {
  return make_lora_workload_from(preset, shortened(lora_setting(preset), preset, sequence), seed,
                                 data);
}

std::unique_ptr<Workload> make_lora_base_workload_from(const std::string& preset,
                                                       const LoraSetting& setting) {
  return make_llm_workload_from(base_setting(preset, setting));
}

std::unique_ptr<Workload> make_lora_base_workload(const std::string& preset,
                                                  std::int64_t sequence) {
  return make_lora_base_workload_from(preset, shortened(lora_setting(preset), preset, sequence));
}

}  // namespace bench::training
