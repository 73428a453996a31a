// One sequence of a token source with its oracle's values.
#pragma once

#include <cstdint>
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

inline GrammarOptions of_vocabulary(int vocabulary) {
  return {.vocabulary = vocabulary, .targets = vocabulary == 64 ? 64 : 256};
}

}  // namespace bench::training
