// Text that changes between several languages, for models with experts: a span begins with a token
// that announces its regime, and continues in the language of that regime (sources/grammar.h,
// without copies) until the next announcement. The languages share their tokens but not their laws:
// which token follows two others depends on the regime, so a model must keep one law per regime.
//
// The state is a function of the previous tokens (the source is "unifilar"): the regime is
// announced, and a span's language depends on tokens of that span only. The probability of every
// token given all previous ones is therefore known exactly.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "training/sources/grammar.h"
#include "training/sources/token_source.h"

namespace bench::training {

struct RegimeOptions {
  int vocabulary = 72;  // of the languages (64 or more) and one token per regime, the last ones
  int regimes = 8;
  int targets = 64;
  std::uint64_t language = 7;  // of the languages and the evaluation samples
  std::uint64_t seed = 1;      // of the training samples
  /// Probability that a span ends, per token from its third on: the two tokens after an
  /// announcement are drawn uniformly.
  double change = 1.0 / 16;
};

class RegimeSource final : public TokenSource {
 public:
  /// Throws Error(usage) for fewer than two regimes, a probability outside [0, 1), and as
  /// GrammarSource does.
  explicit RegimeSource(const RegimeOptions& options);

  int vocabulary() const override { return options_.vocabulary; }
  int targets() const override { return options_.targets; }
  std::optional<std::uint64_t> size(Split) const override { return std::nullopt; }
  bool has_oracle() const override { return true; }
  /// Classes: key for announcements, of which no model can know the regime, base for all others.
  void read(Split split, std::uint64_t index, const TokenSample& sample) const override;
  /// The probabilities of all tokens after `prefix`, by token; they sum to 1. The prefix must be a
  /// beginning that this source can make.
  void distribution(std::span<const std::int32_t> prefix, std::span<double> probabilities) const;

 private:
  /// Where a sequence stands.
  struct State {
    int regime = -1;        // -1: before the first token
    std::size_t begin = 0;  // of the span's language in the sequence
    GrammarState span = {};
  };
  std::int32_t announcement(int regime) const {
    return static_cast<std::int32_t>(options_.vocabulary - options_.regimes + regime);
  }
  bool may_change(const State& state) const {
    return state.regime < 0 || state.span.next != GrammarState::Next::opening;
  }
  const GrammarTables& tables(const State& state) const {
    return languages_[static_cast<std::size_t>(state.regime)]->tables();
  }
  std::int32_t draw_token(const State& state, const std::int32_t* tokens, RandomStream stream,
                          std::size_t position) const;
  double probability_of(const State& state, const std::int32_t* tokens, std::int32_t token) const;
  void advance(State& state, std::int32_t token, std::size_t position) const;

  RegimeOptions options_;
  std::uint32_t change_;  // probability, times 2^32
  std::vector<std::unique_ptr<GrammarSource>> languages_ = {};
};

}  // namespace bench::training
