// Compares the probabilities that a token source reports with its token frequencies.
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/token_sequence.h"

namespace bench::training {
namespace {

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
    const Sequence made = read_sequence(source, Split::train, index);
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
    distribution(oracle, prefixes.at(context), p);
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
      const Sequence made = read_sequence(source, Split::evaluation, index);
      for (std::size_t t = 0; t < made.tokens.size(); ++t) {
        distribution(source, std::span(made.tokens).first(t), p);
        CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1).epsilon(1e-12));
        if (t == 0) continue;
        const double expected = std::log(p[static_cast<std::size_t>(made.tokens[t])]);
        CHECK(made.log_probability[t - 1] == Approx(expected).margin(1e-6));
      }
    }
  }
}

TEST_CASE("token frequencies match the oracle, and a wrong oracle is found") {
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

TEST_CASE("copies begin and end with the configured probabilities") {
  const GrammarSource source(GrammarOptions{.targets = 256});
  double base = 0, begun = 0, copied = 0, ended = 0;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const Sequence made = read_sequence(source, Split::train, index);
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
      distribution(*this, sample.tokens.first(t), p);
      const double wrong = p[static_cast<std::size_t>(sample.tokens[t + 1])];
      if (wrong > 0) sample.log_probability[t] = static_cast<float>(std::log(wrong));
    }
  }
};

/// E[1 / p(token)] is the number of tokens that can come, and E[-log p] the entropy: a check of the
/// reported probabilities against the distribution without counting contexts.
double surprise_above_entropy(const GrammarSource& source) {
  std::vector<double> p(static_cast<std::size_t>(source.vocabulary()));
  double sum = 0, variance = 0;
  for (std::uint64_t index = 0; index < 300; ++index) {
    const Sequence made = read_sequence(source, Split::train, index);
    for (std::size_t t = 1; t < made.tokens.size(); ++t) {
      distribution(source, std::span(made.tokens).first(t), p);
      double entropy = 0, square = 0;
      for (const double q : p)
        if (q > 0) entropy -= q * std::log(q), square += q * std::log(q) * std::log(q);
      sum += -made.log_probability[t - 1] - entropy;
      variance += square - entropy * entropy;
    }
  }
  return sum / std::sqrt(variance);
}

TEST_CASE("reported log-probabilities average to the entropy only in the right context") {
  CHECK(std::abs(surprise_above_entropy(GrammarSource(GrammarOptions{}))) < 4);
  CHECK(surprise_above_entropy(WrongContext(GrammarOptions{})) > 50);
}

}  // namespace
}  // namespace bench::training
