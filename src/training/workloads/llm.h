// Language model pretraining on the generated language, whose floor is known: sequences of the
// grammar, a Llama or GPT-2 architecture, AdamW. Quality is the gap to the floor in nats per token,
// overall and by token class. The seed draws initial weights and training samples; language and
// evaluation samples are the same for all seeds. With token files, the model uses their vocabulary,
// the seed draws their order, and quality is the loss itself.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "training/models/llm.h"
#include "training/sources/token_source.h"
#include "training/workloads/chosen_data.h"
#include "training/workloads/workload.h"

namespace bench::training {

// The sequences that llm is trained on: of the generated language, or of files of tokens.

using LlmData = ChosenData<TokenSource>;

/// Sequences as long as the shape's; its vocabulary is that of generated ones alone. Throws as
/// TokenFiles does, and Error(input) for what a choice says that llm has not.
LlmData open_llm_data(const LlmShape& shape, std::uint64_t seed, const DataChoice& choice);

class LlmWorkload final : public Workload {
 public:
  /// `sequence`: tokens of a sample instead of the preset's; learned positions shrink accordingly,
  /// a step keeps its number of samples, and the target is provisional. Throws Error(input) for an
  /// unknown preset, listing those of models/llm.h, and for a sequence longer than the preset's or
  /// of one token.
  LlmWorkload(const std::string& preset, std::uint64_t seed, std::int64_t sequence = 0,
              const DataChoice& data = {});

  std::string name() const override { return "llm"; }
  std::string preset() const override { return preset_; }
  const Recipe& recipe() const override { return recipe_; }
  std::string item() const override { return "token"; }
  std::int64_t items_per_sample() const override { return shape_.sequence; }
  double flops_per_sample() const override { return flops_; }

  Model model(std::int64_t samples, Dtype dtype, bool recompute) const override;
  std::unique_ptr<Optimizer> optimizer() const override;
  Json optimizer_options() const override;
  void read(Split split, std::uint64_t first, const Model& model, const Lane& lane) const override;
  std::uint64_t checksum(Split split, std::uint64_t first, std::int64_t count) const override;
  std::unique_ptr<Evaluation> evaluation(const Model& model) const override;
  std::vector<std::pair<std::string, double>> baselines() const override;
  Json data() const override { return data_.facts(); }
  bool repeats() const override { return data_.repeats(); }
  bool knows_floor() const override { return data_.knows_floor(); }

 private:
  const TokenSource& source() const { return data_.source(); }
  std::vector<std::pair<std::string, double>> baselines_of_files() const;

  std::string preset_;
  LlmShape shape_;
  LlmData data_;
  Recipe recipe_;
  AdamwOptions adamw_;
  double flops_ = 0.0;
};

/// What the presets of models/llm.h are trained by. Throws Error(input) as llm_preset does.
struct LlmTraining {
  Recipe recipe = {};
  AdamwOptions adamw = {};
};
LlmTraining llm_training(const std::string& preset);

}  // namespace bench::training
