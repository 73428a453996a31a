#include "training/workloads/llm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "core/error.h"
#include "training/models/llm.h"
#include "training/sources/finite.h"
#include "training/sources/grammar.h"
#include "training/sources/token_file.h"
#include "training/sources/token_source.h"
#include "training/workloads/chosen_data.h"
#include "training/workloads/token_samples.h"
#include "training/workloads/workload.h"

namespace bench::training {
namespace {

std::unique_ptr<TokenSource> language(const LlmShape& shape, GrammarOptions options) {
  options.vocabulary = static_cast<int>(shape.vocabulary);
  options.targets = static_cast<int>(shape.sequence);
  return std::make_unique<GrammarSource>(options);
}

std::unique_ptr<TokenSource> token_files(const LlmShape& shape, const DataChoice& choice) {
  return std::make_unique<TokenFiles>(TokenFileOptions{.train = choice.train,
                                                       .evaluation = choice.evaluation,
                                                       .targets = static_cast<int>(shape.sequence),
                                                       .vocabulary = choice.vocabulary});
}

using LlmData = ChosenData<TokenSource>;

/// Sequences as long as the shape's, generated or of files of tokens; the shape's vocabulary is
/// that of generated ones.
LlmData open_llm_data(const LlmSetting& setting, const DataChoice& choice) {
  if (choice.table_rows > 0)
    throw Error(ErrorKind::input, "workload llm has no embedding tables for table_rows",
                "remove the parameter table_rows");
  if (choice.vocabulary > 0 && !choice.from_files())
    throw Error(ErrorKind::input, "vocabulary applies only to token files, not to generated data",
                "set the parameter data to token files, or remove vocabulary");
  const auto generated = [&] {
    return setting.text ? setting.text() : language(setting.shape, setting.language);
  };
  return LlmData::in_order<FiniteTokens>(
      choice.from_files() ? token_files(setting.shape, choice) : generated(), choice,
      setting.language.seed);
}

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

/// For pipelines, whose throughput and memory need more layers; tiny's target, never studied.
LlmTraining deep_training() {
  LlmTraining training = tiny_training();
  training.recipe.target_source.clear();
  return training;
}

/// A larger preset: cosine down to a tenth of the peak, decay of matrices.
LlmTraining large_training(std::int64_t batch, std::int64_t horizon, double peak,
                           std::int64_t warmup) {
  LlmTraining training;
  training.recipe = large_recipe(batch, horizon, {.peak = peak, .warmup = warmup, .floor = 0.1});
  training.recipe.target = kProvisionalTarget;
  training.recipe.evaluation_every = 12;
  training.adamw.beta2 = 0.95;
  training.adamw.decay = 0.1;
  return training;
}

constexpr std::array<const char*, kTokenClasses> kClassNames = {"base", "key", "copy"};

/// Tokens for counting and evaluating n-gram baselines of files: takes seconds at most.
constexpr std::int64_t kBaselineTokens = 1 << 22;

LlmSetting setting_of(const std::string& preset, std::uint64_t seed, std::int64_t sequence) {
  const LlmShape full = llm_preset(preset);
  LlmSetting setting{.preset = preset,
                     .shape = with_sequence(full, "llm " + preset, sequence),
                     .training = llm_training(preset)};
  setting.language.seed = seed;
  if (setting.shape.sequence != full.sequence) setting.training.recipe.target_source.clear();
  return setting;
}

/// Gaps of simpler models on the generated language, minus its floor; sources/grammar.h has these
/// for full sequences of the presets.
std::vector<std::pair<std::string, double>> baselines_of(const LlmShape& shape) {
  if (shape.vocabulary == 64) return {{"unigram", 3.7172 - 2.3517}, {"bigram", 3.0984 - 2.3517}};
  if (shape.vocabulary == 32768) return {{"unigram", 6.492 - 3.178}, {"bigram", 5.280 - 3.178}};
  if (shape.vocabulary == 50257) return {{"unigram", 6.603 - 3.178}, {"bigram", 5.385 - 3.178}};
  return {};
}

/// The model's loss, for tokens without a known probability.
class LossEvaluation final : public Evaluation {
 public:
  /// `targets`: of a sample, as many as the model has of it.
  LossEvaluation(std::int64_t targets, Var losses) : targets_(targets), losses_(losses) {}

  void add(const Lane& lane, std::uint64_t, std::int64_t count) override {
    const double* loss = lane.view(losses_).as<double>();
    for (std::int64_t i = 0; i < count * targets_; ++i) sums_[kLoss] += loss[i];
    sums_[kCount] += static_cast<double>(count * targets_);
  }

  Quality finish(Group& group) override {
    group.sum(sums_);
    const double loss = sums_[kLoss] / sums_[kCount];
    return {.gap = loss, .native = loss, .floor = 0.0, .parts = {{"perplexity", std::exp(loss)}}};
  }

 private:
  enum { kLoss, kCount };
  std::int64_t targets_;
  Var losses_;
  std::array<double, 2> sums_ = {};
};

/// Losses of the model and of the oracle, by class of token.
class LlmEvaluation final : public Evaluation {
 public:
  LlmEvaluation(const TokenSource& source, const Model& model)
      : gaps_(source, model.context), losses_(model.losses) {}

  void add(const Lane& lane, std::uint64_t first, std::int64_t count) override {
    gaps_.add(lane.view(losses_).as<double>(), first, count);
  }

  Quality finish(Group& group) override {
    gaps_.sum(group);
    Quality quality = gaps_.quality();
    for (std::size_t c = 0; c < kClassNames.size(); ++c)
      if (const auto which = static_cast<TokenClass>(c); gaps_.tokens(which) > 0.0)
        quality.parts.emplace_back(kClassNames.at(c), gaps_.gap(which));
    return quality;
  }

 private:
  TokenGaps gaps_;
  Var losses_;
};

class LlmWorkload final : public Workload {
 public:
  LlmWorkload(const LlmSetting& setting, const DataChoice& data,
              std::vector<std::pair<std::string, double>> baselines)
      : preset_(setting.preset),
        shape_(setting.shape),
        data_(open_llm_data(setting, data)),
        recipe_(data_.fit(setting.training.recipe)),
        adamw_(setting.training.adamw),
        baselines_(std::move(baselines)) {
    shape_.vocabulary = source().vocabulary();
    flops_ = llm_flops_per_token(shape_) * static_cast<double>(shape_.sequence);
  }

  std::string name() const override { return "llm"; }
  std::string preset() const override { return preset_; }
  const Recipe& recipe() const override { return recipe_; }
  std::string item() const override { return "token"; }
  std::int64_t items_per_sample() const override { return shape_.sequence; }
  double flops_per_sample() const override { return flops_; }

  Model model(std::int64_t samples, Dtype dtype, bool recompute) const override {
    return model_part({}, samples, dtype, recompute);
  }
  Model model_part(const ModelPart& part, std::int64_t samples, Dtype dtype,
                   bool recompute) const override {
    Llm llm = make_llm(shape_, samples, dtype, recompute, {}, part);
    return {std::move(llm.graph), llm.losses,  {llm.tokens, llm.targets}, {},
            std::move(llm.stage), part.context};
  }
  std::unique_ptr<Optimizer> optimizer() const override { return make_adamw(adamw_); }
  Json optimizer_options() const override {
    Json options = mllog_options(adamw_);
    options["max_sequence_length"] = shape_.sequence;
    return options;
  }

  void read(Split split, std::uint64_t first, const Model& model, const Lane& lane) const override {
    read_token_samples(source(), split, first, model, lane);
  }
  std::uint64_t checksum(Split split, std::uint64_t first, std::int64_t count) const override {
    return token_checksum(source(), split, first, count);
  }
  std::unique_ptr<Evaluation> evaluation(const Model& model) const override {
    if (knows_floor()) return std::make_unique<LlmEvaluation>(source(), model);
    return std::make_unique<LossEvaluation>(model.context.tokens(shape_.sequence), model.losses);
  }

  std::vector<std::pair<std::string, double>> baselines() const override {
    return data_.from_files() ? baselines_of_files() : baselines_;
  }
  Json data() const override { return data_.facts(); }
  bool repeats() const override { return data_.repeats(); }
  bool knows_floor() const override { return data_.knows_floor(); }
  const LlmShape* llm_shape() const override { return &shape_; }

 private:
  const TokenSource& source() const { return data_.source(); }
  std::vector<std::pair<std::string, double>> baselines_of_files() const;

  std::string preset_;
  LlmShape shape_;
  LlmData data_;
  Recipe recipe_;
  AdamwOptions adamw_;
  std::vector<std::pair<std::string, double>> baselines_;
  double flops_ = 0.0;
};

std::vector<std::pair<std::string, double>> LlmWorkload::baselines_of_files() const {
  const auto samples_of = [&](Split split) {
    return std::min(source().size(split).value(),
                    static_cast<std::uint64_t>(kBaselineTokens / shape_.sequence));
  };
  const std::uint64_t judged = std::min(samples_of(Split::evaluation),
                                        static_cast<std::uint64_t>(recipe_.evaluation_samples));
  if (judged == 0) return {};
  const TokenBaselines losses = baselines_of(source(), samples_of(Split::train), judged);
  return {{"uniform", losses.uniform}, {"unigram", losses.unigram}, {"bigram", losses.bigram}};
}

}  // namespace

LlmTraining llm_training(const std::string& preset) {
  llm_preset(preset);  // throws for an unknown name
  if (preset == "tiny") return tiny_training();
  if (preset == "deep") return deep_training();
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

LlmTraining base_training(LlmTraining training, std::int64_t steps) {
  Recipe& recipe = training.recipe;
  recipe.target.reset();
  recipe.target_source.clear();
  recipe.horizon = recipe.schedule.horizon = recipe.evaluation_every = steps;
  return training;
}

std::unique_ptr<Workload> make_llm_workload(const std::string& preset, std::uint64_t seed,
                                            std::int64_t sequence, const DataChoice& data) {
  const LlmSetting setting = setting_of(preset, seed, sequence);
  const bool full = setting.shape.sequence == llm_preset(preset).sequence;
  // Shorter sequences have other floors.
  return std::make_unique<LlmWorkload>(
      setting, data,
      full ? baselines_of(setting.shape) : std::vector<std::pair<std::string, double>>{});
}

std::unique_ptr<Workload> make_llm_workload_from(const LlmSetting& setting,
                                                 const DataChoice& data) {
  return std::make_unique<LlmWorkload>(setting, data,
                                       std::vector<std::pair<std::string, double>>{});
}

LlmShape with_sequence(LlmShape shape, const std::string& preset, std::int64_t sequence) {
  shape.sequence = checked_sequence(shape.sequence, preset, sequence);
  return shape;
}

}  // namespace bench::training
