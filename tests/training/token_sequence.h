// One sequence of a token source with its oracle's values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "training/sources/grammar.h"

namespace bench::training {

struct Sequence {
  std::vector<std::int32_t> tokens;
  std::vector<float> log_probability;
  std::vector<TokenClass> classes;
};

inline Sequence read_sequence(const TokenSource& source, Split split, std::uint64_t index) {
  const auto targets = static_cast<std::size_t>(source.targets());
  Sequence made{std::vector<std::int32_t>(targets + 1), std::vector<float>(targets),
                std::vector<TokenClass>(targets)};
  source.read(split, index, {made.tokens, made.log_probability, made.classes});
  return made;
}

struct TokenFloor {
  double mean = 0;  // negative log-probability of the targets, by the oracle
  std::array<double, kTokenClasses>
      by_class{};                             // the same, of each class' targets; 0 where none is
  std::array<double, kTokenClasses> share{};  // of all targets
};

/// Of evaluation samples 0 to `samples` - 1: the loss that no model can beat.
inline TokenFloor floor_of(const TokenSource& source, std::uint64_t samples) {
  const auto targets = static_cast<std::size_t>(source.targets());
  std::vector<std::int32_t> tokens(targets + 1);
  std::vector<float> log_probability(targets);
  std::vector<TokenClass> classes(targets);
  TokenFloor floor;
  for (std::uint64_t index = 0; index < samples; ++index) {
    source.read(Split::evaluation, index, {tokens, log_probability, classes});
    for (std::size_t t = 0; t < targets; ++t) {
      const auto which = static_cast<std::size_t>(classes[t]);
      floor.by_class.at(which) -= log_probability[t];
      ++floor.share.at(which);
    }
  }
  const double all = static_cast<double>(samples) * static_cast<double>(targets);
  for (std::size_t c = 0; c < floor.share.size(); ++c) {
    floor.mean += floor.by_class.at(c) / all;
    if (floor.share.at(c) > 0) floor.by_class.at(c) /= floor.share.at(c);
    floor.share.at(c) /= all;
  }
  return floor;
}

/// Fills `probabilities` (one per token of the vocabulary) with those of the token after `prefix`,
/// which must be a beginning that this source can make.
inline void distribution(const GrammarSource& source, std::span<const std::int32_t> prefix,
                         std::span<double> probabilities) {
  GrammarState state;
  for (const std::int32_t token : prefix) state.add(token);
  for (std::size_t token = 0; token < probabilities.size(); ++token)
    probabilities[token] =
        probability(source.tables(), state, prefix.data(), static_cast<std::int32_t>(token));
}

inline GrammarOptions of_vocabulary(int vocabulary) {
  return {.vocabulary = vocabulary, .targets = vocabulary == 64 ? 64 : 256};
}

}  // namespace bench::training
