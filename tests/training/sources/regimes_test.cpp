// Text that changes between languages: its probabilities against its frequencies.
#include "training/sources/regimes.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/token_sequence.h"

namespace bench::training {
namespace {

RegimeOptions regimes_of_vocabulary(int vocabulary) {
  RegimeOptions options;
  options.vocabulary = vocabulary;
  options.targets = 96;
  return options;
}

/// The mean of -log p as reported, minus that of the law `oracle`, in standard deviations: near 0
/// only if the tokens follow that law.
double sigmas_above_entropy(const RegimeSource& source, const RegimeSource& oracle) {
  std::vector<double> p(static_cast<std::size_t>(source.vocabulary()));
  double sum = 0, variance = 0;
  for (std::uint64_t index = 0; index < 100; ++index) {
    const Sequence made = read_sequence(source, Split::train, index);
    for (std::size_t t = 1; t < made.tokens.size(); ++t) {
      oracle.distribution(std::span(made.tokens).first(t), p);
      double entropy = 0, square = 0;
      for (const double q : p)
        if (q > 0) entropy -= q * std::log(q), square += q * std::log(q) * std::log(q);
      sum += -std::log(p[static_cast<std::size_t>(made.tokens[t])]) - entropy;
      variance += square - entropy * entropy;
    }
  }
  return sum / std::sqrt(variance);
}

}  // namespace

TEST_CASE("the probabilities of all tokens sum to 1 after every prefix of changing text") {
  for (const int vocabulary : {72, 400}) {
    const RegimeSource source(regimes_of_vocabulary(vocabulary));
    std::vector<double> p(static_cast<std::size_t>(vocabulary));
    for (std::uint64_t index = 0; index < 5; ++index) {
      const Sequence made = read_sequence(source, Split::evaluation, index);
      for (std::size_t t = 0; t < made.tokens.size(); ++t) {
        source.distribution(std::span(made.tokens).first(t), p);
        CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1).epsilon(1e-9));
        if (t == 0) continue;
        const double expected = std::log(p[static_cast<std::size_t>(made.tokens[t])]);
        CHECK(made.log_probability[t - 1] == Approx(expected).margin(1e-6));
      }
    }
  }
}

TEST_CASE("changing text follows its law, and not that of other regimes") {
  const RegimeOptions options = regimes_of_vocabulary(72);
  const RegimeSource source(options);
  CHECK(std::abs(sigmas_above_entropy(source, source)) < 4);
  RegimeOptions shifted = options;
  ++shifted.language;  // regime r has the language of regime r + 1
  CHECK(sigmas_above_entropy(source, RegimeSource(shifted)) > 50);
}

TEST_CASE("spans begin with an announcement and change with the configured probability") {
  const RegimeSource source(regimes_of_vocabulary(72));
  std::vector<double> announced(8);
  double changes = 0, tries = 0;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const Sequence made = read_sequence(source, Split::train, index);
    CHECK(made.tokens[0] >= 64);
    std::size_t begin = 0;
    for (std::size_t t = 1; t < made.tokens.size(); ++t) {
      const bool change = made.tokens[t] >= 64;
      CHECK(change == (made.classes[t - 1] == TokenClass::key));
      if (t > begin + 2) ++tries, changes += change;
      if (!change) continue;
      CHECK(t > begin + 2);
      begin = t;
      ++announced[static_cast<std::size_t>(made.tokens[t] - 64)];
    }
  }
  const auto sigmas = [](double seen, double of, double p) {
    return (seen - of * p) / std::sqrt(of * p * (1 - p));
  };
  CHECK(std::abs(sigmas(changes, tries, 1.0 / 16)) < 4);
  for (const double count : announced) CHECK(std::abs(sigmas(count, changes, 1.0 / 8)) < 4);
}

TEST_CASE("changing text depends on neither the reader nor earlier reads") {
  const RegimeSource source(regimes_of_vocabulary(72)), twin(regimes_of_vocabulary(72));
  const Sequence first = read_sequence(source, Split::train, 5);
  read_sequence(source, Split::train, 6);
  CHECK(read_sequence(twin, Split::train, 5).tokens == first.tokens);
  CHECK(read_sequence(source, Split::evaluation, 5).tokens != first.tokens);
  RegimeOptions other = regimes_of_vocabulary(72);
  other.seed = 2;
  const RegimeSource seed2(other);
  CHECK(read_sequence(seed2, Split::train, 5).tokens != first.tokens);
  CHECK(read_sequence(seed2, Split::evaluation, 5).tokens ==
        read_sequence(source, Split::evaluation, 5).tokens);
}

TEST_CASE("floor and baselines of changing text match its header") {
  const RegimeSource source(RegimeOptions{});
  const TokenFloor floor = floor_of(source, 512);
  const TokenBaselines trivial = baselines_of(source, 20000, 512);
  INFO("floor " << floor.mean << " base " << floor.by_class[0] << " announcement "
                << floor.by_class[1] << " shares " << floor.share[0] << " " << floor.share[1]
                << " unigram " << trivial.unigram << " bigram " << trivial.bigram);
  CHECK(floor.mean == Approx(2.93735).margin(6e-6));
  CHECK(floor.by_class[1] == Approx(std::log(8 * 16)).margin(1e-6));
  CHECK(trivial.uniform == Approx(std::log(72)));
  CHECK(trivial.unigram == Approx(4.04397).margin(6e-6));
  CHECK(trivial.bigram == Approx(3.88021).margin(6e-6));
}

TEST_CASE("invalid options of changing text are refused with the valid range") {
  CHECK_THROWS_AS(RegimeSource({.regimes = 1}), Error);
  CHECK_THROWS_AS(RegimeSource({.change = 1.0}), Error);
  CHECK_THROWS_AS(RegimeSource({.vocabulary = 71}), Error);
}

}  // namespace bench::training
