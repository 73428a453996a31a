#include "training/workloads/grpo.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/names.h"
#include "training/engine/content_hash.h"
#include "training/sources/byte_reader.h"
#include "training/workloads/chosen_data.h"

namespace bench::training {
namespace {

/// Of demonstrations.
constexpr std::uint64_t kDemonstrationSeed = 0x6772706f;

/// The policy has the model and the training of a preset of llm.
GrpoSetting setting_of(const std::string& llm, int symbols, int length) {
  GrpoSetting setting;
  setting.programs = {.symbols = symbols, .length = length, .noise = 1.2 / length};
  setting.shape = llm_preset(llm);
  setting.shape.vocabulary = Programs(setting.programs).vocabulary();
  setting.shape.sequence = setting.programs.tokens() - 1;
  setting.base = llm_training(llm);
  return setting;
}

GrpoSetting tiny_grpo() {
  GrpoSetting setting = setting_of("tiny", 8, 6);
  setting.base.recipe.batch = 128;
  setting.shape.rope_theta = 20.0;  // for 13 positions
  setting.base.recipe.micro_batch = 16;
  setting.base = base_training(setting.base, 800);
  Recipe& recipe = setting.recipe;
  recipe.batch = 32;  // 256 answers
  recipe.horizon = 400;
  recipe.schedule = {Schedule::Shape::constant, 1e-3, 0, recipe.horizon};
  recipe.clip = 1.0;
  recipe.target = 0.01;
  recipe.target_source =
      "a 75th of the gap of a perfect imitation, above the gaps at the horizon; "
      "docs/evidence/grpo_tiny.json";
  recipe.evaluation_every = 10;
  recipe.evaluation_samples = 64;
  recipe.micro_batch = 4;
  setting.adamw.beta2 = 0.98;
  return setting;
}

/// Rate, clipping, group and betas of MLPerf's qwen35_397b_grpo, with 256 answers a step. No target
/// has been found yet.
GrpoSetting large_grpo(const std::string& llm, int symbols, int length, std::int64_t base_steps) {
  GrpoSetting setting = setting_of(llm, symbols, length);
  setting.base = base_training(setting.base, base_steps);
  setting.rollouts.generations = 16;
  Recipe& recipe = setting.recipe;
  recipe.batch = 16;
  recipe.horizon = 2000;
  recipe.schedule = {Schedule::Shape::constant, 1e-6, 0, recipe.horizon};
  recipe.clip = 0.125;
  recipe.target = 0.05;
  recipe.evaluation_every = 20;
  recipe.evaluation_samples = 16;
  recipe.micro_batch = recipe.device_micro_batch = 1;
  return setting;
}

const NameTable<GrpoSetting (*)(), 3>& grpo_settings() {
  static const NameTable<GrpoSetting (*)(), 3> all{{{
      {tiny_grpo, "tiny"},
      {[] { return large_grpo("small", 256, 64, 2000); }, "small"},
      {[] { return large_grpo("standard", 256, 512, 2000); }, "standard"},
  }}};
  return all;
}

/// Probabilities of right answers to the evaluation prompts, by kind of program. A sample has as
/// many prompts as a group has answers, because the model is made for that many sequences.
class GrpoEvaluation final : public Evaluation {
 public:
  GrpoEvaluation(const Programs& programs, const GrpoSetting& setting, const Rollouts& rollouts,
                 Var losses)
      : programs_(programs), setting_(setting), rollouts_(rollouts), losses_(losses) {}

  void add(const Lane& lane, std::uint64_t first, std::int64_t count) override {
    const std::int64_t length = setting_.shape.sequence, group = setting_.rollouts.generations;
    const double* losses = lane.view(losses_).as<double>();
    std::vector<std::int32_t> right(static_cast<std::size_t>(setting_.programs.length)),
        best = right;
    for (std::int64_t i = 0; i < count * group; ++i, losses += length) {
      const std::uint64_t prompt =
          first * static_cast<std::uint64_t>(group) + static_cast<std::uint64_t>(i);
      double surprise = 0.0;  // prompts have no loss
      for (std::int64_t t = 0; t < length; ++t) surprise += losses[t];
      programs_.right_answer(Split::evaluation, prompt, right);
      programs_.best_answer(Split::evaluation, prompt, best);
      Sums& sums = sums_.at(static_cast<std::size_t>(programs_.kind(Split::evaluation, prompt)));
      sums[kPassed] += std::exp(-surprise);
      sums[kBest] += right == best ? 1.0 : 0.0;
      sums[kPrompts] += 1.0;
    }
  }

  Quality finish(Group& group) override {
    const RolloutSums& played = rollouts_.sums();
    std::array<double, 4> earned = {played.answers, played.rewards, played.tokens,
                                    played.divergence};
    group.sum(earned);
    Sums all = {};
    for (Sums& sums : sums_) {
      group.sum(sums);
      for (std::size_t i = 0; i < all.size(); ++i) all.at(i) += sums.at(i);
    }
    Quality quality;
    quality.native = all[kPassed] / all[kPrompts];
    quality.floor = all[kBest] / all[kPrompts];
    quality.gap = quality.floor - quality.native;
    for (int i = 0; i < kProgramKinds; ++i) {
      const Sums& sums = sums_.at(static_cast<std::size_t>(i));
      if (sums[kPrompts] > 0.0)
        quality.parts.emplace_back("pass_" + std::string(to_string(static_cast<ProgramKind>(i))),
                                   sums[kPassed] / sums[kPrompts]);
    }
    if (earned[0] > 0.0) {
      quality.parts.emplace_back("reward", earned[1] / earned[0]);
      quality.parts.emplace_back("kl", earned[3] / earned[2]);
    }
    return quality;
  }

 private:
  enum { kPassed, kBest, kPrompts };
  using Sums = std::array<double, 3>;

  const Programs& programs_;
  const GrpoSetting& setting_;
  const Rollouts& rollouts_;
  Var losses_;
  std::array<Sums, kProgramKinds> sums_ = {};
};

class GrpoWorkload final : public Workload {
 public:
  GrpoWorkload(std::string preset, const GrpoSetting& setting, const DataChoice& data)
      : preset_(std::move(preset)),
        setting_(setting),
        repeats_(data.is_finite()),
        programs_(setting.programs),
        rollouts_(programs_, setting.shape, setting.rollouts, setting.programs.seed) {
    if (repeats_) setting_.recipe.target_source.clear();
    const double forward = llm_flops_per_token(setting_.shape) / 3.0;
    const auto answers = static_cast<double>(setting_.rollouts.generations);
    const double update = 3.0 * answers * static_cast<double>(setting_.shape.sequence);
    const double judged = answers * static_cast<double>(setting_.shape.sequence);
    const double generated = setting_.programs.prompt_tokens() +
                             answers * (static_cast<double>(setting_.programs.length) - 1.0);
    flops_ = forward * (update + judged + generated);
  }

  std::string name() const override { return "grpo"; }
  std::string preset() const override { return preset_; }
  const Recipe& recipe() const override { return setting_.recipe; }
  std::string item() const override { return "token"; }
  std::int64_t items_per_sample() const override {
    return setting_.rollouts.generations * setting_.programs.length;
  }
  double flops_per_sample() const override { return flops_; }
  std::int64_t logged_samples() const override { return setting_.rollouts.generations; }

  Model model(std::int64_t samples, Dtype dtype, bool recompute) const override {
    LlmPolicy policy = make_llm_policy(setting_.shape, samples * setting_.rollouts.generations,
                                       setting_.clip, dtype, recompute);
    return {
        std::move(policy.graph), policy.losses, {policy.tokens, policy.targets, policy.terms}, {}};
  }
  const LlmShape* llm_shape() const override { return &setting_.shape; }
  std::unique_ptr<Optimizer> optimizer() const override { return make_adamw(setting_.adamw); }
  Json optimizer_options() const override {
    Json options = mllog_options(setting_.adamw);
    options["max_sequence_length"] = setting_.programs.tokens();
    options["num_generations_per_prompt"] = setting_.rollouts.generations;
    options["generation_training_rollout_temperature"] = setting_.rollouts.temperature;
    options["kl_weight"] = setting_.rollouts.kl;
    return options;
  }

  void read(Split split, std::uint64_t first, const Model& model, const Lane& lane) const override {
    const std::int64_t group = setting_.rollouts.generations;
    const std::int64_t samples = lane.view(model.inputs[0]).rows / setting_.shape.sequence / group;
    for (std::int64_t i = 0; i < samples; ++i) {
      const std::uint64_t sample = first + static_cast<std::uint64_t>(i);
      if (split == Split::train)
        rollouts_.write(model, lane, i * group, rollouts_.group(sample));
      else
        read_answers(sample, model, lane, i * group);
    }
  }
  std::uint64_t checksum(Split split, std::uint64_t first, std::int64_t count) const override {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(setting_.programs.tokens()));
    const auto prompt = static_cast<std::size_t>(setting_.programs.prompt_tokens());
    std::uint64_t sum = 0;
    for (std::uint64_t i = first; i < first + static_cast<std::uint64_t>(count); ++i) {
      programs_.prompt(split, i, std::span(tokens).first(prompt));
      programs_.right_answer(split, i, std::span(tokens).subspan(prompt));
      sum += sample_checksum(split, i, std::span(tokens));
    }
    return sum;
  }
  std::optional<std::uint64_t> source_hash(Split split, std::uint64_t sample) const override {
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(setting_.programs.prompt_tokens()));
    programs_.prompt(split, sample, prompt);
    const std::uint64_t epoch = sample / programs_.size();  // tasks repeat once all were seen
    return content_hash(std::as_bytes(std::span(prompt))) + epoch;
  }
  std::unique_ptr<Evaluation> evaluation(const Model& model) const override {
    return std::make_unique<GrpoEvaluation>(programs_, setting_, rollouts_, model.losses);
  }
  Rollouts* rollouts() override { return &rollouts_; }
  const Rollouts* rollouts() const override { return &rollouts_; }

  /// The gap of a model that imitates the demonstrations perfectly.
  std::vector<std::pair<std::string, double>> baselines() const override;
  Json data() const override {
    return repeats_ ? data_facts({}, programs_.size(), {}) : Json(nullptr);
  }
  bool repeats() const override { return repeats_; }

 private:
  /// Evaluation prompts with their right answers, one a sequence.
  void read_answers(std::uint64_t sample, const Model& model, const Lane& lane,
                    std::int64_t first_sequence) const {
    const std::int64_t group = setting_.rollouts.generations, all = setting_.programs.tokens();
    const auto prompt = static_cast<std::size_t>(setting_.programs.prompt_tokens());
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(group * all));
    for (std::int64_t i = 0; i < group; ++i) {
      const std::uint64_t number =
          sample * static_cast<std::uint64_t>(group) + static_cast<std::uint64_t>(i);
      const auto sequence = std::span(tokens).subspan(static_cast<std::size_t>(i * all),
                                                      static_cast<std::size_t>(all));
      programs_.prompt(Split::evaluation, number, sequence.first(prompt));
      programs_.right_answer(Split::evaluation, number, sequence.subspan(prompt));
    }
    rollouts_.write(model, lane, first_sequence, {tokens, {}, {}, {}});
  }

  std::string preset_;
  GrpoSetting setting_;
  bool repeats_;
  Programs programs_;
  Rollouts rollouts_;
  double flops_ = 0.0;
};

std::vector<std::pair<std::string, double>> GrpoWorkload::baselines() const {
  const auto prompts = static_cast<std::uint64_t>(setting_.recipe.evaluation_samples *
                                                  setting_.rollouts.generations);
  const auto length = static_cast<std::size_t>(setting_.programs.length);
  std::vector<std::int32_t> prompt(static_cast<std::size_t>(setting_.programs.prompt_tokens()));
  std::vector<std::int32_t> right(length), best(length);
  std::vector<double> known(length);
  double imitated = 0.0, passed = 0.0;
  for (std::uint64_t i = 0; i < prompts; ++i) {
    programs_.prompt(Split::evaluation, i, prompt);
    programs_.right_answer(Split::evaluation, i, right);
    programs_.best_answer(Split::evaluation, i, best);
    programs_.imitation(prompt, right, known);
    double sum = 0.0;
    for (const double one : known) sum += one;
    imitated += std::exp(sum);
    passed += right == best ? 1.0 : 0.0;
  }
  return {{"imitation", (passed - imitated) / static_cast<double>(prompts)}};
}

void refuse_files_of(const DataChoice& data) {
  if (data.from_files() || !data.evaluation.empty() || data.vocabulary > 0 || data.table_rows > 0)
    throw Error(ErrorKind::input, "workload grpo reads no files: rewards need a verifier",
                "remove the parameters data, evaluation_data, vocabulary and table_rows");
}

}  // namespace

std::vector<std::string> grpo_presets() {
  std::vector<std::string> names;
  for (const auto& [setting, name] : grpo_settings().entries) names.emplace_back(name);
  return names;
}

GrpoSetting grpo_setting(const std::string& preset) {
  return grpo_settings().value(preset, "grpo preset")();
}

std::unique_ptr<Workload> make_grpo_workload_from(const std::string& preset,
                                                  const GrpoSetting& setting, std::uint64_t seed,
                                                  const DataChoice& data) {
  refuse_files_of(data);
  GrpoSetting own = setting;
  own.programs.seed = seed;
  if (data.samples > 0) own.programs.samples = data.samples;
  return std::make_unique<GrpoWorkload>(preset, own, data);
}

std::unique_ptr<Workload> make_grpo_workload(const std::string& preset, std::uint64_t seed,
                                             const DataChoice& data) {
  return make_grpo_workload_from(preset, grpo_setting(preset), seed, data);
}

std::unique_ptr<Workload> make_grpo_base_workload_from(const std::string& preset,
                                                       const GrpoSetting& setting) {
  LlmSetting base{.preset = preset, .shape = setting.shape, .training = setting.base};
  ProgramOptions demonstrated = setting.programs;
  demonstrated.seed = kDemonstrationSeed;
  base.text = [demonstrated] { return std::make_unique<Demonstrations>(demonstrated); };
  return make_llm_workload_from(base);
}

std::unique_ptr<Workload> make_grpo_base_workload(const std::string& preset) {
  return make_grpo_base_workload_from(preset, grpo_setting(preset));
}

}  // namespace bench::training
