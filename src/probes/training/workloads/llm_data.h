// The sequences that llm is trained on: of the generated language, or of files of tokens.
#pragma once

#include <memory>

#include "probes/training/models/llm.h"
#include "probes/training/sources/token_source.h"
#include "probes/training/workloads/chosen_data.h"

namespace bench::training {

using LlmData = ChosenData<TokenSource>;

/// Sequences as long as the shape's; its vocabulary is that of generated ones alone. Throws as
/// TokenFiles does, and Error(input) for what a choice says that llm has not.
LlmData open_llm_data(const LlmShape& shape, std::uint64_t seed, const DataChoice& choice);

}  // namespace bench::training
