// Text generation by an llm with cached keys and values: the prompts pass the model at once, then
// it decodes token by token. Several answers to a prompt share its pass.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "training/engine/lane.h"
#include "training/models/llm.h"

namespace bench::training {

struct GenerationSizes {
  std::int64_t prompts = 1;  // at once
  std::int64_t answers = 1;  // to each prompt
  std::int64_t prompt_tokens = 0;
  std::int64_t answer_tokens = 0;

  std::int64_t sequences() const { return prompts * answers; }
};

/// Answer by answer, prompt by prompt: [sequences, answer_tokens], valid until the next run().
struct GeneratedAnswers {
  std::span<const std::int32_t> tokens;
  std::span<const float> log_probabilities;  // nats, at temperature 1
};

/// With the kernels of one lane; one thread at a time. Always reads the current weights.
class LlmGenerator {
 public:
  /// `plan`: of a graph with the parameters of make_llm() for `shape`, whose sequences have at
  /// least prompt_tokens + answer_tokens - 1 positions. Plan and weights must outlive this. Throws
  /// Error(internal) for shapes other than Llama's, or sizes that do not fit.
  LlmGenerator(const LlmShape& shape, const Plan& plan, const Weights& weights,
               const KernelFactory& kernels, const GenerationSizes& sizes);

  /// `prompts` [prompts, prompt_tokens]; `chances` [sequences, answer_tokens] in [0, 1), by which
  /// each token is drawn. Temperature 0: the likeliest tokens.
  GeneratedAnswers run(std::span<const std::int32_t> prompts, std::span<const float> chances,
                       double temperature);

  std::int64_t memory_bytes() const;
  /// The same, of the buffers and caches that a generator would allocate.
  static std::int64_t memory_bytes(const LlmShape& shape, const GenerationSizes& sizes,
                                   Dtype dtype);

 private:
  struct Layer {
    View norm1, wqkv, wo, norm2, w_gate_up, w_down, cache;
  };
  struct Buffers {
    View x, normed, qkv, attended, log_sum, gate_up, gated, statistics;  // by row of a pass
    View last, logits;                                                   // by sequence
    View prompts, last_rows;                                             // tokens; rows of x
    View chances, tokens, log_probabilities;  // by position, then by sequence
  };
  struct BufferSize {
    View Buffers::*buffer;
    std::int64_t rows, columns;
    Dtype dtype;
    std::int64_t bytes() const {
      return rows * columns * static_cast<std::int64_t>(size_of(dtype));
    }
  };
  static std::vector<BufferSize> buffer_sizes(const LlmShape& shape, const GenerationSizes& sizes,
                                              Dtype dtype);
  static BufferSize cache_size(const LlmShape& shape, const GenerationSizes& sizes, Dtype dtype);

  View allocate(const BufferSize& size);
  View parameter(const Plan& plan, const std::string& name) const;
  void upload(const void* from, View to);
  /// Token `number` of all answers; on a device as one recorded piece of work.
  void generate(std::int64_t number, double temperature);
  /// Positions `first`, first + 1, ... of `sequences` sequences, from their tokens to x.
  void pass(View tokens, std::int64_t sequences, std::int64_t first);
  void attend(const Layer& layer, View qkv, View output, std::int64_t sequences,
              std::int64_t first);
  /// Draws token `number` of all answers from the last position's rows of x.
  void choose(View rows, std::int64_t number, double temperature);

  LlmShape shape_;
  GenerationSizes sizes_;
  const Weights& weights_;
  KernelSet kernels_;
  std::vector<MemoryBlock> blocks_ = {};
  Buffers buffers_ = {};
  std::vector<Layer> layers_ = {};
  View embedding_, norm_, head_, angles_;
  std::vector<std::int32_t> tokens_ = {}, tokens_by_position_ = {};
  std::vector<float> log_probabilities_ = {}, numbers_by_position_ = {};
};

}  // namespace bench::training
