#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/token_sequence.h"
#include "training/sources/grammar.h"

namespace bench::training {
namespace {

TEST_CASE("a sequence depends on neither the reader nor earlier reads") {
  const GrammarSource source(of_vocabulary(32768)), twin(of_vocabulary(32768));
  const Sequence first = read_sequence(source, Split::train, 5);
  read_sequence(source, Split::train, 6);
  CHECK(read_sequence(source, Split::train, 5).tokens == first.tokens);
  CHECK(read_sequence(twin, Split::train, 5).tokens == first.tokens);
  CHECK(read_sequence(source, Split::train, 6).tokens != first.tokens);
  CHECK(read_sequence(source, Split::evaluation, 5).tokens != first.tokens);
  std::vector<std::int32_t> tokens(first.tokens.size());
  source.read(Split::train, 5, {.tokens = tokens});  // without the oracle
  CHECK(tokens == first.tokens);
}

TEST_CASE("a run's seed changes the training samples but not the evaluation samples") {
  GrammarOptions options;
  const GrammarSource one(options);
  options.seed = 2;
  const GrammarSource two(options);
  CHECK(read_sequence(one, Split::train, 0).tokens != read_sequence(two, Split::train, 0).tokens);
  CHECK(read_sequence(one, Split::evaluation, 0).tokens ==
        read_sequence(two, Split::evaluation, 0).tokens);
}

/// The state after tokens that copy what followed anchor 3: 20 and 21.
constexpr GrammarState copying(int count) {
  constexpr std::int32_t kTokens[] = {3, 20, 21, kCopyToken, 3, 20};
  GrammarState state;
  for (int i = 0; i < count; ++i) state.add(kTokens[i]);
  return state;
}

TEST_CASE("sequence state works at compile time, as in a GPU kernel") {
  static_assert(copying(3).token_class() == TokenClass::base);
  static_assert(copying(4).token_class() == TokenClass::key);
  static_assert(copying(5).token_class() == TokenClass::copy && copying(5).source == 1);
  static_assert(copying(6).token_class() == TokenClass::copy && copying(6).source == 2);
  CHECK(copying(6).last[1] == 4);
}

TEST_CASE("copies repeat what followed the key's last occurrence") {
  const GrammarSource source({.targets = 400});
  int copied = 0;
  for (std::uint64_t index = 0; index < 20; ++index) {
    const auto [tokens, log_probability, classes] = read_sequence(source, Split::train, index);
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

TEST_CASE("floor and baselines of the smallest preset match its header") {
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

TEST_CASE("most tokens of a large vocabulary occur, few often, none beyond it") {
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

TEST_CASE("invalid language options are refused with the valid range") {
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
