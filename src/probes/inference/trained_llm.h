// An llm that this process has trained, so that what weights of few bits cost in quality, and what
// speculation gains, is measured on a model that has learned its language.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "devices/group.h"
#include "inference/decoder.h"
#include "probes/inference/trained_model.h"
#include "training/sources/token_source.h"
#include "training/workloads/workload.h"

namespace bench {

/// What a decoder's weights are made from; valid as long as the model.
inference::ParameterValues values_of(const TrainedModel& llm);

/// The language on which a preset is trained.
std::unique_ptr<training::TokenSource> language_of(const training::LlmShape& shape,
                                                   std::uint64_t seed);

/// The model's loss over `sequences` evaluation sequences, against the language's own.
training::Quality quality_of(inference::Decoder& decoder, std::span<const int> blocks,
                             const training::TokenSource& language, std::int64_t sequences,
                             Group& group);

}  // namespace bench
