// Passes of a model over tokens of many sequences at once: prompts, parts of prompts and single
// tokens in any mixture, each continuing its sequence in the paged cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/decoder_kernels.h"
#include "inference/decoder_model.h"
#include "inference/paged_cache.h"
#include "inference/thread_team.h"
#include "training/kernels/kernel_set.h"

namespace bench::inference {

/// Consecutive tokens of one sequence, which the cache knows up to `first`.
struct DecoderInput {
  std::span<const std::int32_t> tokens;
  std::int64_t first = 0;       // position of the first token
  std::span<const int> blocks;  // of the whole sequence, up to these tokens
  std::int64_t wanted = 1;      // of the last tokens: those whose successor is asked for
};

class Decoder {
 public:
  /// Passes of at most `most_rows` tokens. Model and cache must outlive this.
  Decoder(const DecoderModel& model, PagedCache& cache, int threads, std::int64_t most_rows,
          const training::KernelFactory& kernels, const DecoderKernels& loops = decoder_kernels());

  /// The likeliest next tokens (the first of several), by input and then by wanted token; valid
  /// until the next pass. Throws Error(internal) for tokens, positions or blocks that do not fit.
  std::span<const std::int32_t> pass(std::span<const DecoderInput> inputs);
  /// Of the last pass, for the wanted tokens in the same order: [wanted, vocabulary].
  std::span<const float> logits(std::int64_t wanted) const;
  /// log p of a token that might follow, in nats.
  double log_probability(std::int64_t wanted, std::int32_t token) const;

  std::int64_t most_rows() const { return most_rows_; }
  std::int64_t most_wanted() const { return most_wanted_; }
  const DecoderModel& model() const { return model_; }
  /// Of the buffers that a decoder allocates for passes of so many tokens.
  static std::int64_t bytes(const training::LlmShape& shape, WeightType type,
                            std::int64_t most_rows);

 private:
  using Layer = DecoderModel::Layer;
  struct Row {
    std::int32_t token;
    std::int64_t position;
    std::size_t input;
  };
  /// Queries first, first + 1, ... of one input for one head of keys: by token, then by head.
  struct AttentionTask {
    std::size_t input;
    std::int64_t kv_head, first;
    std::int64_t first_row;  // of the input
  };
  struct Scratch {  // of a thread
    training::KernelSet kernels;
    std::vector<const float*> keys, values;
    std::vector<float> scores;
  };

  void take(std::span<const DecoderInput> inputs);
  void check(const DecoderInput& input) const;
  void work(Scratch& own);
  void work(const Layer& layer, std::int64_t index, Scratch& own);
  void normalise(const float* x, const std::vector<float>& gain, const std::vector<float>& bias,
                 std::int64_t row, float* to, Scratch& own) const;
  /// Of rows in `buffer` with so many columns, for a quantised matrix.
  void round(const std::vector<float>& buffer, std::int64_t columns, std::int64_t row);
  void multiply(const PackedMatrix& weights, const std::vector<float>& from,
                const std::vector<float>& bias, bool add, std::int64_t rows, float* to);
  void store(std::int64_t layer, std::int64_t row, Scratch& own);
  void attend(std::int64_t layer, const AttentionTask& task, Scratch& own);
  void activate(std::int64_t row, Scratch& own);
  void choose(std::int64_t wanted);

  const DecoderModel& model_;
  PagedCache& cache_;
  std::int64_t most_rows_, most_wanted_;
  training::AttentionShape heads_;
  const DecoderKernels& loops_;
  ThreadTeam team_;
  std::vector<Scratch> scratch_ = {};

  std::span<const DecoderInput> inputs_ = {};
  std::vector<Row> rows_ = {};
  std::vector<std::int64_t> wanted_ = {};  // rows
  std::vector<AttentionTask> tasks_ = {};
  std::vector<float> x_, normed_, qkv_, attended_, up_, activated_, logits_;
  std::vector<std::int8_t> rounded_ = {};
  std::vector<float> scales_ = {};
  std::vector<std::int32_t> starts_ = {};
  std::vector<std::int32_t> chosen_ = {};
};

}  // namespace bench::inference
