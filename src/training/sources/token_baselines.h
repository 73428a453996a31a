// What losses on a token source mean: the floor, which no model can beat but by luck or by a leak,
// and what models without a memory reach. All in nats a token, on one and the same set of samples.
#pragma once

#include <array>
#include <cstdint>

#include "training/sources/token_source.h"

namespace bench::training {

struct TokenFloor {
  double mean = 0;  // negative log-probability of the targets, by the oracle
  std::array<double, kTokenClasses>
      by_class{};                             // the same, of each class' targets; 0 where none is
  std::array<double, kTokenClasses> share{};  // of all targets
};

/// Of evaluation samples 0 to `samples` - 1.
TokenFloor floor_of(const TokenSource& source, std::uint64_t samples);

struct TokenBaselines {
  double uniform = 0;  // log of the vocabulary
  double unigram = 0;
  double bigram = 0;
};

/// Tokens and pairs are counted in training samples 0 to `counted` - 1 and judged on evaluation
/// samples 0 to `judged` - 1. A pair's probability leans on the unigram's with the weight of one
/// observation.
TokenBaselines baselines_of(const TokenSource& source, std::uint64_t counted, std::uint64_t judged);

}  // namespace bench::training
