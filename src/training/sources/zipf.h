// Ranks by Zipf's law, in integers: exact for the first 64, then in steps of a 32nd of an octave,
// within which all ranks are equally likely (so a rank's probability is within 2 % of the law's). A
// draw is one lookup for any number of rows, and identical on all machines, unlike that of a
// rejection sampler, which calls pow().
#pragma once

#include <cstdint>
#include <vector>

#include "training/sources/alias_table.h"
#include "training/sources/random.h"

namespace bench::training {

struct ZipfView {
  AliasView steps;
  const std::uint32_t* first = nullptr;  // rank of each step, then the number of rows

  /// A rank from 0, the most frequent.
  constexpr std::uint32_t draw(std::uint64_t bits) const {
    const std::uint32_t step = steps.draw(0, static_cast<std::uint32_t>(bits >> 32));
    return first[step] + below(static_cast<std::uint32_t>(bits), first[step + 1] - first[step]);
  }
};

class Zipf {
 public:
  /// P(rank) ~ (rank + 1)^-exponent, 2 rows to 2^31, exponent from 0 on.
  Zipf(std::uint32_t rows, double exponent);

  ZipfView view() const { return {steps_.view(), first_.data()}; }
  double probability(std::uint32_t rank) const;

 private:
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> weights_;
  AliasTable steps_;
};

}  // namespace bench::training
