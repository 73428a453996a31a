// Token sequences for language models: a sequence is a function of (split, index) only. Sources
// have no state between calls, so ranks and threads can share one source and read in any order.
// Generated sources never repeat a sample and know the probability of each token, whose mean
// negative logarithm over the evaluation samples is the lowest loss that any model can reach.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "training/sources/random.h"

namespace bench::training {

/// The class of a target token, by which losses and floors are split.
enum class TokenClass : std::uint8_t {
  base,  // the language itself: statistics stored in the weights
  key,   // selects the earlier position that is copied: unpredictable for any model
  copy   // repeats what followed an earlier position, or ends the copy: requires attention
};
inline constexpr int kTokenClasses = 3;

/// The memory for one sequence. `log_probability` and `classes` are of the targets, tokens 1 to T;
/// empty ones are not filled, which is faster.
struct TokenSample {
  std::span<std::int32_t> tokens;         // T + 1
  std::span<float> log_probability = {};  // T, nats, of each target given all tokens before it
  std::span<TokenClass> classes = {};     // T
};

class TokenSource {
 public:
  TokenSource() = default;
  TokenSource(const TokenSource&) = delete;
  TokenSource& operator=(const TokenSource&) = delete;
  virtual ~TokenSource() = default;

  /// Tokens are smaller.
  virtual int vocabulary() const = 0;
  /// T: inputs are tokens 0 to T - 1 of a sequence, targets 1 to T.
  virtual int targets() const = 0;
  /// How many of the first targets of a sequence are given: they are not learned and have no loss.
  virtual int given() const { return 0; }
  /// Number of sequences; none if endless.
  virtual std::optional<std::uint64_t> size(Split split) const = 0;
  /// Whether log_probability and classes are available.
  virtual bool has_oracle() const = 0;
  /// Throws Error(internal) for spans of other lengths or an index past the end, Error(input) for
  /// invalid contents of a file.
  virtual void read(Split split, std::uint64_t index, const TokenSample& sample) const = 0;
};

/// Throws Error(internal) unless the sample's spans fit a source of T targets.
void check_fits(const TokenSample& sample, int targets, bool has_oracle);

/// Losses of models without memory, in nats per token, on the same evaluation samples.
struct TokenBaselines {
  double uniform = 0;  // log of the vocabulary
  double unigram = 0;
  double bigram = 0;
};

/// Counts tokens and pairs in training samples 0 to `counted` - 1 and evaluates them on evaluation
/// samples 0 to `judged` - 1. Pair probabilities are smoothed with the unigram's, weighted as one
/// observation.
TokenBaselines baselines_of(const TokenSource& source, std::uint64_t counted, std::uint64_t judged);

}  // namespace bench::training
