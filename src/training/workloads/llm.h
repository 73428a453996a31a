// Language model pretraining on the generated language, whose floor is known: sequences of the
// grammar, a Llama or GPT-2 architecture, AdamW. Quality is the gap to the floor in nats per token,
// overall and by token class. The seed draws initial weights and training samples; language and
// evaluation samples are the same for all seeds. With token files, the model uses their vocabulary,
// the seed draws their order, and quality is the loss itself.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "training/models/llm.h"
#include "training/sources/grammar.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// `sequence`: tokens of a sample instead of the preset's (0); learned positions shrink
/// accordingly, a step keeps its number of samples, and the target is provisional. Throws
/// Error(input) for an unknown preset, listing those of models/llm.h, for a sequence longer than
/// the preset's or of one token, and for options in `data` that llm lacks; throws as TokenFiles
/// does.
std::unique_ptr<Workload> make_llm_workload(const std::string& preset, std::uint64_t seed,
                                            std::int64_t sequence = 0, const DataChoice& data = {});

/// How a preset of models/llm.h is trained. Throws Error(input) as llm_preset() does.
struct LlmTraining {
  Recipe recipe = {};
  AdamwOptions adamw = {};
};
LlmTraining llm_training(const std::string& preset);
/// Of a base that another workload adapts: for so many steps, without a target, evaluated once, at
/// the end.
LlmTraining base_training(LlmTraining training, std::int64_t steps);

/// A training that is not one of the presets: a shape on a generated language.
struct LlmSetting {
  std::string preset = {};  // its name in records
  LlmShape shape = {};
  GrammarOptions language = {};  // vocabulary and length of sequences are the shape's
  /// Another generated text instead, of the shape's vocabulary and sequences.
  std::function<std::unique_ptr<TokenSource>()> text = {};
  LlmTraining training = {};
};
/// Throws like make_llm_workload() for `data`, which names no files.
std::unique_ptr<Workload> make_llm_workload_from(const LlmSetting& setting,
                                                 const DataChoice& data = {});

/// `shape`, the one of `preset`, with sequences of so many tokens (0: its own). Throws Error(input)
/// for a sequence longer than the shape's or of one token.
LlmShape with_sequence(LlmShape shape, const std::string& preset, std::int64_t sequence);

}  // namespace bench::training
