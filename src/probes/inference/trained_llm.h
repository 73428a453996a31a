// An llm that this process has trained, so that what weights of few bits cost in quality, and what
// speculation gains, is measured on a model that has learned its language.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "devices/group.h"
#include "inference/decoder.h"
#include "training/parallel/training_kernels.h"
#include "training/sources/token_source.h"
#include "training/workloads/workload.h"

namespace bench {

struct TrainedLlm {
  std::map<std::string, std::vector<float>> parameters = {};
  double gap = 0.0;            // of its last evaluation, in nats per token
  std::int64_t evaluated = 0;  // sequences of that evaluation, the first ones
  std::int64_t steps = 0;
  bool converged = false;  // it met the target

  inference::ParameterValues values() const;
};

/// Trains `preset` in f32 to its target, or to its horizon. Throws like Trainer.
TrainedLlm train_llm(const std::string& preset, std::uint64_t seed, TrainingKernels& kernels,
                     int cores, Group& group);

/// The language on which a preset is trained.
std::unique_ptr<training::TokenSource> language_of(const training::LlmShape& shape,
                                                   std::uint64_t seed);

/// The model's loss over `sequences` evaluation sequences, against the language's own.
training::Quality quality_of(inference::Decoder& decoder, std::span<const int> blocks,
                             const training::TokenSource& language, std::int64_t sequences,
                             Group& group);

}  // namespace bench
