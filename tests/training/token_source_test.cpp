#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "probes/training/sources/grammar.h"
#include "probes/training/sources/token_baselines.h"
#include "tests/support/catch.h"

namespace bench::training {
namespace {

struct Sequence {
  std::vector<std::int32_t> tokens;
  std::vector<float> log_probability;
  std::vector<TokenClass> classes;
};

Sequence read(const TokenSource& source, Split split, std::uint64_t index) {
  const auto targets = static_cast<std::size_t>(source.targets());
  Sequence made{std::vector<std::int32_t>(targets + 1), std::vector<float>(targets),
                std::vector<TokenClass>(targets)};
  source.read(split, index, {made.tokens, made.log_probability, made.classes});
  return made;
}

GrammarOptions of_vocabulary(int vocabulary) {
  return {.vocabulary = vocabulary, .targets = vocabulary == 64 ? 64 : 256};
}

/// Expected minus seen frequencies, squared, over expected; and how many there are.
struct ChiSquare {
  double sum = 0;
  int cells = 0;
  /// In standard deviations above what a right distribution gives.
  double sigmas() const { return (sum - (cells - 1)) / std::sqrt(2.0 * (cells - 1)); }
};

/// What followed the same two tokens in the base language against the distribution of `oracle`.
ChiSquare compare_frequencies(const GrammarSource& source, const GrammarSource& oracle) {
  std::map<std::vector<std::int32_t>, std::map<std::int32_t, int>> followers;
  std::map<std::vector<std::int32_t>, std::vector<std::int32_t>> prefixes;
  for (std::uint64_t index = 0; index < 6000; ++index) {
    const Sequence made = read(source, Split::train, index);
    for (std::size_t t = 2; t < 12; ++t) {
      if (made.classes[t - 1] != TokenClass::base) continue;
      const auto at = made.tokens.begin() + static_cast<std::ptrdiff_t>(t);
      ++followers[{at - 2, at}][*at];
      prefixes.try_emplace({at - 2, at}, made.tokens.begin(), at);
    }
  }
  ChiSquare chi;
  std::vector<double> p(static_cast<std::size_t>(oracle.vocabulary()));
  for (const auto& [context, seen] : followers) {
    const double total = std::accumulate(seen.begin(), seen.end(), 0.0,
                                         [](double sum, const auto& s) { return sum + s.second; });
    oracle.distribution(prefixes.at(context), p);
    double rest = total, rest_seen = total;
    for (std::size_t token = 0; token < p.size(); ++token) {
      const double expected = p[token] * total;
      if (expected < 8) continue;
      const auto found = seen.find(static_cast<std::int32_t>(token));
      const double count = found == seen.end() ? 0 : found->second;
      chi.sum += (count - expected) * (count - expected) / expected;
      ++chi.cells;
      rest -= expected;
      rest_seen -= count;
    }
    if (rest < 8 || rest == total) continue;
    chi.sum += (rest_seen - rest) * (rest_seen - rest) / rest;  // the cell that ties the others
  }
  return chi;
}

TEST_CASE("the oracle's probabilities of all tokens sum to 1 after every prefix") {
  for (const int vocabulary : {64, 200, 50257}) {
    const GrammarSource source(of_vocabulary(vocabulary));
    std::vector<double> p(static_cast<std::size_t>(vocabulary));
    for (std::uint64_t index = 0; index < (vocabulary < 1000 ? 20u : 2u); ++index) {
      const Sequence made = read(source, Split::evaluation, index);
      for (std::size_t t = 0; t < made.tokens.size(); ++t) {
        source.distribution(std::span(made.tokens).first(t), p);
        CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1).epsilon(1e-12));
        if (t == 0) continue;
        const double told = std::log(p[static_cast<std::size_t>(made.tokens[t])]);
        CHECK(made.log_probability[t - 1] == Approx(told).margin(1e-6));
      }
    }
  }
}

TEST_CASE("tokens come as often as the oracle says, and a wrong oracle is found") {
  for (const int vocabulary : {64, 200}) {
    const GrammarSource source(of_vocabulary(vocabulary));
    const ChiSquare right = compare_frequencies(source, source);
    CHECK(right.cells > 400);
    CHECK(std::abs(right.sigmas()) < 4);
    GrammarOptions other = of_vocabulary(vocabulary);
    other.language = 2;
    CHECK(compare_frequencies(source, GrammarSource(other)).sigmas() > 50);
  }
}

/// How often something came, in standard deviations above what `p` would give.
double sigmas(double seen, double tries, double p) {
  return (seen - tries * p) / std::sqrt(tries * p * (1 - p));
}

TEST_CASE("copies begin and end as often as the options say") {
  const GrammarSource source(GrammarOptions{.targets = 256});
  double base = 0, begun = 0, copied = 0, ended = 0;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const Sequence made = read(source, Split::train, index);
    for (std::size_t t = 1; t < made.classes.size(); ++t) {
      const std::int32_t token = made.tokens[t + 1];
      if (made.classes[t] == TokenClass::base) ++base, begun += token == kCopyToken;
      if (made.classes[t] != TokenClass::copy || made.log_probability[t] == 0) continue;
      ++copied, ended += token == kEndToken;  // but for those that had to end
    }
  }
  CHECK(std::abs(sigmas(begun, base, 0.06)) < 4);
  CHECK(std::abs(sigmas(begun, base, 0.063)) > 4);
  CHECK(std::abs(sigmas(ended, copied, 0.1)) < 4);
  CHECK(std::abs(sigmas(ended, copied, 0.11)) > 4);
}

/// A source whose oracle looks at a context one token off.
class WrongContext : public GrammarSource {
 public:
  using GrammarSource::GrammarSource;
  void read(Split split, std::uint64_t index, const TokenSample& sample) const override {
    GrammarSource::read(split, index, sample);
    std::vector<double> p(static_cast<std::size_t>(vocabulary()));
    for (std::size_t t = 2; t + 1 < sample.tokens.size(); ++t) {
      if (sample.classes[t] != TokenClass::base || sample.classes[t - 1] != TokenClass::base)
        continue;
      distribution(sample.tokens.first(t), p);
      const double wrong = p[static_cast<std::size_t>(sample.tokens[t + 1])];
      if (wrong > 0) sample.log_probability[t] = static_cast<float>(std::log(wrong));
    }
  }
};

/// E[1 / p(token)] is the number of tokens that can come, and E[-log p] the entropy: a check of the
/// told probabilities against the distribution that needs no counting of contexts.
double surprise_above_entropy(const GrammarSource& source) {
  std::vector<double> p(static_cast<std::size_t>(source.vocabulary()));
  double sum = 0, variance = 0;
  for (std::uint64_t index = 0; index < 300; ++index) {
    const Sequence made = read(source, Split::train, index);
    for (std::size_t t = 1; t < made.tokens.size(); ++t) {
      source.distribution(std::span(made.tokens).first(t), p);
      double entropy = 0, square = 0;
      for (const double q : p)
        if (q > 0) entropy -= q * std::log(q), square += q * std::log(q) * std::log(q);
      sum += -made.log_probability[t - 1] - entropy;
      variance += square - entropy * entropy;
    }
  }
  return sum / std::sqrt(variance);
}

TEST_CASE(
    "the told log-probabilities average to the entropy, and those of a wrong context do not") {
  CHECK(std::abs(surprise_above_entropy(GrammarSource(GrammarOptions{}))) < 4);
  CHECK(surprise_above_entropy(WrongContext(GrammarOptions{})) > 50);
}

TEST_CASE("a sequence is the same whoever reads it and whatever was read before") {
  const GrammarSource source(of_vocabulary(32768)), twin(of_vocabulary(32768));
  const Sequence first = read(source, Split::train, 5);
  read(source, Split::train, 6);
  CHECK(read(source, Split::train, 5).tokens == first.tokens);
  CHECK(read(twin, Split::train, 5).tokens == first.tokens);
  CHECK(read(source, Split::train, 6).tokens != first.tokens);
  CHECK(read(source, Split::evaluation, 5).tokens != first.tokens);
  std::vector<std::int32_t> tokens(first.tokens.size());
  source.read(Split::train, 5, {.tokens = tokens});  // without the oracle
  CHECK(tokens == first.tokens);
}

TEST_CASE("a run's seed changes the training samples but not the evaluation samples") {
  GrammarOptions options;
  const GrammarSource one(options);
  options.seed = 2;
  const GrammarSource two(options);
  CHECK(read(one, Split::train, 0).tokens != read(two, Split::train, 0).tokens);
  CHECK(read(one, Split::evaluation, 0).tokens == read(two, Split::evaluation, 0).tokens);
}

TEST_CASE("spans repeat what followed the key's last place") {
  const GrammarSource source({.targets = 400});
  int copied = 0;
  for (std::uint64_t index = 0; index < 20; ++index) {
    const auto [tokens, log_probability, classes] = read(source, Split::train, index);
    for (std::size_t t = 1; t < classes.size(); ++t) {
      if (classes[t - 1] != TokenClass::key || classes[t] != TokenClass::copy) continue;
      std::size_t from = t - 1;  // before the key, which is token t
      while (from > 0 && tokens[from] != tokens[t]) --from;
      REQUIRE(tokens[from] == tokens[t]);
      for (std::size_t at = t + 1; tokens[at] != kEndToken && at < classes.size(); ++at, ++copied)
        REQUIRE(tokens[at] == tokens[++from]);
    }
  }
  CHECK(copied > 500);
}

TEST_CASE("the floor and the trivial baselines of the smallest preset are what its header says") {
  const GrammarSource source(GrammarOptions{});
  const TokenFloor floor = floor_of(source, 512);
  const TokenBaselines trivial = baselines_of(source, 20000, 512);
  INFO("floor " << floor.mean << " base " << floor.by_class[0] << " key " << floor.by_class[1]
                << " copy " << floor.by_class[2] << " shares " << floor.share[0] << " "
                << floor.share[1] << " " << floor.share[2] << " unigram " << trivial.unigram
                << " bigram " << trivial.bigram);
  CHECK(floor.mean == Approx(2.35170).margin(6e-6));
  CHECK(floor.by_class[1] == Approx(std::log(8)).margin(1e-6));
  CHECK(trivial.uniform == Approx(std::log(64)));
  CHECK(trivial.unigram == Approx(3.71724).margin(6e-6));
  CHECK(trivial.bigram == Approx(3.09839).margin(6e-6));
}

TEST_CASE("most tokens of a large vocabulary occur, few of them often, none beyond it") {
  for (const int vocabulary : {32768, 50257, 128256}) {
    const GrammarSource source({.vocabulary = vocabulary, .targets = 1024});
    std::vector<int> seen(static_cast<std::size_t>(vocabulary));
    for (std::uint64_t index = 0; index < 2000; ++index) {
      std::vector<std::int32_t> tokens(1025);
      source.read(Split::train, index, {.tokens = tokens});
      for (const std::int32_t token : tokens) ++seen.at(static_cast<std::size_t>(token));
    }
    const auto used = static_cast<double>(
        std::count_if(seen.begin(), seen.end(), [](int count) { return count > 0; }));
    CHECK(used > 0.6 * vocabulary);
    std::sort(seen.rbegin(), seen.rend());
    CHECK(seen[10] > 50 * seen[static_cast<std::size_t>(vocabulary) / 4]);  // far from uniform
  }
}

TEST_CASE("a language that cannot be made is refused with what can be") {
  CHECK_THROWS_AS(GrammarSource(GrammarOptions{.vocabulary = 63}), Error);
  CHECK_THROWS_AS(GrammarSource(GrammarOptions{.targets = 0}), Error);
  CHECK_THROWS_AS(GrammarSource(GrammarOptions{.end_copy = 1.5}), Error);
  const GrammarSource source(GrammarOptions{});
  std::vector<std::int32_t> tokens(64);
  CHECK_THROWS_WITH(source.read(Split::train, 0, {.tokens = tokens}),
                    "a sequence of 64 targets has 65 tokens, not 64");
}

}  // namespace
}  // namespace bench::training
