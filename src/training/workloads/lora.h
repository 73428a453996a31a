// Low-rank adaptation of a pretrained language model to a dialect of its language: a twin of
// MLPerf's llama2_70b_lora. The base is an llm, trained by make_lora_base_workload() before the
// clock starts, then frozen. The dialect's law is known, so quality is the gap to its floor in nats
// per token, as for llm.
//
// In the dialect, kDialectRank of the six factors by which the last symbol enters the law's logits
// are others (GrammarOptions::redrawn_factors). The change of the logits is a matrix of that rank
// in (last symbol, next symbol) whose rows are combinations of the factors of the next symbol,
// which the base's head has learned. So a map of that rank from the last token's embedding to the
// head's input expresses it, and every preset's adapters have at least twice that rank: in the law,
// no gap is due to the rank. A transformer only approximates the law, so more rank still helps a
// little (docs/workloads/lora.md).
#pragma once

#include <memory>
#include <string>

#include "training/models/lora.h"
#include "training/workloads/llm.h"
#include "training/workloads/workload.h"

namespace bench::training {

inline constexpr int kDialectRank = 2;

/// How a preset of models/lora.h is trained.
struct LoraSetting {
  LoraShape shape = {};
  LlmTraining base = {};      // of the base, on the language
  LlmTraining training = {};  // of the adapters, on the dialect
};
/// Throws Error(input) as lora_preset() does.
LoraSetting lora_setting(const std::string& preset);

/// The seed draws the adapters and the training samples; base, dialect and evaluation samples are
/// the same for all seeds. `sequence` as in make_llm_workload(). Throws Error(input) for files and
/// their options, and as make_llm_workload() does.
std::unique_ptr<Workload> make_lora_workload(const std::string& preset, std::uint64_t seed,
                                             std::int64_t sequence = 0,
                                             const DataChoice& data = {});
std::unique_ptr<Workload> make_lora_workload_from(const std::string& preset,
                                                  const LoraSetting& setting, std::uint64_t seed,
                                                  const DataChoice& data = {});

/// Pretrains the base to its horizon: the recipe has no target.
std::unique_ptr<Workload> make_lora_base_workload(const std::string& preset,
                                                  std::int64_t sequence = 0);
std::unique_ptr<Workload> make_lora_base_workload_from(const std::string& preset,
                                                       const LoraSetting& setting);

}  // namespace bench::training
