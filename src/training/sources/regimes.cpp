#include "training/sources/regimes.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"

namespace bench::training {

RegimeSource::RegimeSource(const RegimeOptions& options)
    : options_(options), change_(static_cast<std::uint32_t>(options.change * 0x1p32)) {
  if (options.regimes < 2)
    throw Error(ErrorKind::usage, fmt::format("invalid number of regimes: {}", options.regimes),
                "use at least 2");
  if (!(options.change >= 0 && options.change < 1))
    throw Error(ErrorKind::usage,
                fmt::format("invalid probability of another regime: {}", options.change),
                "use a value from 0 to below 1");
  GrammarOptions language;
  language.vocabulary = options.vocabulary - options.regimes;
  language.targets = options.targets;
  language.begin_copy = 0;
  for (int regime = 0; regime < options.regimes; ++regime) {
    language.language = options.language + static_cast<std::uint64_t>(regime);
    languages_.push_back(std::make_unique<GrammarSource>(language));
  }
}

std::int32_t RegimeSource::draw_token(const State& state, const std::int32_t* tokens,
                                      RandomStream stream, std::size_t position) const {
  const std::uint64_t bits = stream.bits(3 * position);
  const bool change =
      state.regime < 0 || (may_change(state) && static_cast<std::uint32_t>(bits) < change_);
  if (change)
    return announcement(static_cast<int>(below(static_cast<std::uint32_t>(bits >> 32),
                                               static_cast<std::uint32_t>(options_.regimes))));
  return draw(tables(state), state.span, tokens + state.begin, stream.bits(3 * position + 1),
              stream.bits(3 * position + 2));
}

double RegimeSource::probability_of(const State& state, const std::int32_t* tokens,
                                    std::int32_t token) const {
  const double change = state.regime < 0 ? 1.0 : may_change(state) ? change_ * 0x1p-32 : 0.0;
  const std::int32_t regime = token - announcement(0);
  if (regime >= 0)
    return change *
           static_cast<double>(ways_below(static_cast<std::uint32_t>(regime),
                                          static_cast<std::uint32_t>(options_.regimes))) *
           0x1p-32;
  if (state.regime < 0) return 0.0;
  return (1 - change) * probability(tables(state), state.span, tokens + state.begin, token);
}

void RegimeSource::advance(State& state, std::int32_t token, std::size_t position) const {
  if (token < announcement(0)) return state.span.add(token);
  state.regime = token - announcement(0);
  state.begin = position + 1;
  state.span = {};
}

void RegimeSource::read(Split split, std::uint64_t index, const TokenSample& sample) const {
  check_fits(sample, options_.targets, true);
  const std::uint64_t seed = split == Split::evaluation ? options_.language : options_.seed;
  const RandomStream stream = sample_stream(seed, split, index);
  State state;
  std::int32_t* tokens = sample.tokens.data();
  for (std::size_t t = 0; t < sample.tokens.size(); ++t) {
    const std::int32_t token = draw_token(state, tokens, stream, t);
    if (t > 0 && !sample.classes.empty())
      sample.classes[t - 1] = token < announcement(0) ? TokenClass::base : TokenClass::key;
    if (t > 0 && !sample.log_probability.empty())
      sample.log_probability[t - 1] =
          static_cast<float>(std::log(probability_of(state, tokens, token)));
    tokens[t] = token;
    advance(state, token, t);
  }
}

void RegimeSource::distribution(std::span<const std::int32_t> prefix,
                                std::span<double> probabilities) const {
  State state;
  for (std::size_t t = 0; t < prefix.size(); ++t) advance(state, prefix[t], t);
  for (std::size_t token = 0; token < probabilities.size(); ++token)
    probabilities[token] = probability_of(state, prefix.data(), static_cast<std::int32_t>(token));
}

}  // namespace bench::training
