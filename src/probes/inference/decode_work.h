// What the probe `inference` times: one pass that gives each sequence of a batch its next token,
// again and again, and one prompt; and how their results are verified.
#pragma once

#include <cstdint>
#include <vector>

#include "core/record.h"
#include "inference/decoder.h"
#include "training/kernels/kernel_set.h"

namespace bench {

/// Blocks of the cache for sequences of equal length: sequence i has the i-th part of them.
class SequenceBlocks {
 public:
  explicit SequenceBlocks(std::int64_t positions) : each_(inference::cache_blocks(positions)) {}

  std::int64_t each() const { return each_; }
  std::vector<int> of(std::int64_t sequence) const;

 private:
  std::int64_t each_;
};

/// `count` random tokens.
std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t vocabulary,
                                        std::uint64_t seed);

/// Sequences that each have the same number of tokens behind them. Their next tokens are written to
/// the same places of the cache in each pass, so that all passes are alike.
class DecodeWork {
 public:
  /// Fills the cache with random prompts, in parts. The cache must have room for one token more.
  DecodeWork(inference::Decoder& decoder, std::int64_t batch, std::int64_t tokens,
             std::uint64_t seed);

  void run(std::int64_t calls);
  /// The logits of the last pass against those of each sequence alone: equal bit by bit.
  Check check();
  /// Keys and values that a pass reads.
  static double cache_bytes(const inference::DecoderModel& model, std::int64_t batch,
                            std::int64_t tokens);

 private:
  inference::Decoder& decoder_;
  std::vector<std::vector<int>> blocks_ = {};
  std::vector<std::int32_t> next_ = {};
  std::vector<inference::DecoderInput> inputs_ = {};
};

/// One prompt, in passes of as many tokens as the decoder takes.
class PromptWork {
 public:
  PromptWork(inference::Decoder& decoder, std::int64_t tokens, std::uint64_t seed);

  void run(std::int64_t calls);
  /// The logits after the last token against those of the prompt in parts of 7 tokens: equal bit by
  /// bit.
  Check check();

 private:
  void pass(std::int64_t part);

  inference::Decoder& decoder_;
  std::vector<std::int32_t> prompt_;
  std::vector<int> blocks_;
};

/// The largest distance of log-probabilities from those of the training's forward pass over the
/// same stored weights. Needs memory for all weights in f32. The tolerance is that of rounding; of
/// quantised weights, whose inputs are rounded to 8 bits, what that costs.
Check distance_from_training(inference::Decoder& decoder, const training::KernelFactory& kernels,
                             std::uint64_t seed);
double bytes_for_distance(const training::LlmShape& shape);

}  // namespace bench
