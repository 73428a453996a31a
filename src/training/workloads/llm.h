// Language model pretraining on the generated language, whose floor is known: sequences of the
// grammar, a Llama or GPT-2 architecture, AdamW. Quality is the gap to the floor in nats per token,
// overall and by token class. The seed draws initial weights and training samples; language and
// evaluation samples are the same for all seeds. With token files, the model uses their vocabulary,
// the seed draws their order, and quality is the loss itself.
#pragma once

#include <memory>
#include <string>

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

}  // namespace bench::training
