// Tasks and their answers, and the law of demonstrations against all answers and against counts.
#include "training/sources/programs.h"

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;
using TokenString = std::vector<std::int32_t>;

TokenString prompt_of(const Programs& programs, Split split, std::uint64_t index) {
  TokenString prompt(static_cast<std::size_t>(programs.options().prompt_tokens()));
  programs.prompt(split, index, prompt);
  return prompt;
}

TokenString answer_of(const Programs& programs, Split split, std::uint64_t index, bool best) {
  TokenString answer(static_cast<std::size_t>(programs.options().length));
  best ? programs.best_answer(split, index, answer) : programs.right_answer(split, index, answer);
  return answer;
}

/// Prompt number `operation` on the string 0, 1, 2, ...
TokenString counting_prompt(const Programs& programs, int operation) {
  const ProgramOptions& options = programs.options();
  TokenString prompt = {options.symbols + operation};
  for (int i = 0; i < options.length; ++i) prompt.push_back(i % options.symbols);
  prompt.push_back(programs.vocabulary() - 1);
  return prompt;
}

double imitated(const Programs& programs, const TokenString& prompt, const TokenString& answer) {
  std::vector<double> known(answer.size());
  programs.imitation(prompt, answer, known);
  double sum = 0.0;
  for (const double one : known) sum += one;
  return std::exp(sum);
}

}  // namespace

TEST_CASE("no task of programs repeats, and none of the training is evaluated") {
  const Programs programs({});
  std::set<TokenString> evaluated, trained;
  for (std::uint64_t i = 0; i < 2000; ++i)
    evaluated.insert(prompt_of(programs, Split::evaluation, i));
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const TokenString prompt = prompt_of(programs, Split::train, i);
    CHECK(evaluated.count(prompt) == 0);
    trained.insert(prompt);
  }
  CHECK(evaluated.size() == 2000);
  CHECK(trained.size() == 20000);
  CHECK(programs.size() == 6 * 262144 - 16384);  // 6 operations, 8^6 strings, less the evaluated
}

TEST_CASE("the seed draws the order of training tasks, and evaluation tasks stay") {
  const Programs one({.seed = 1}), other({.seed = 2});
  CHECK(prompt_of(one, Split::train, 0) != prompt_of(other, Split::train, 0));
  CHECK(prompt_of(one, Split::evaluation, 5) == prompt_of(other, Split::evaluation, 5));
  CHECK(answer_of(one, Split::evaluation, 5, false) ==
        answer_of(other, Split::evaluation, 5, false));
}

TEST_CASE("strings too long to be counted are drawn, and still differ") {
  const Programs programs({.symbols = 256, .length = 64});
  std::set<TokenString> seen;
  for (std::uint64_t i = 0; i < 500; ++i) seen.insert(prompt_of(programs, Split::train, i));
  CHECK(seen.size() == 500);
  for (const TokenString& prompt : seen)
    for (std::size_t i = 1; i < 65; ++i) CHECK((prompt[i] >= 0 && prompt[i] < 256));
}

TEST_CASE("the best answer is right except for the coins of ambiguous tasks") {
  const Programs programs({});
  std::map<ProgramKind, std::pair<int, int>> right;  // of all
  for (std::uint64_t i = 0; i < 16384; ++i) {
    auto& [passed, all] = right[programs.kind(Split::evaluation, i)];
    passed += answer_of(programs, Split::evaluation, i, true) ==
              answer_of(programs, Split::evaluation, i, false);
    ++all;
  }
  for (const ProgramKind kind : {ProgramKind::plain, ProgramKind::misleading})
    CHECK(right[kind].first == right[kind].second);
  const auto [passed, all] = right[ProgramKind::ambiguous];
  CHECK(all > 2500);
  // A coin of 0.25, except that strings of one symbol have the same answer by both rules.
  CHECK(static_cast<double>(passed) / all == Approx(0.75).margin(0.025));
}

TEST_CASE("answers follow their operations") {
  const Programs programs({});
  for (std::uint64_t task = 0; task < 300; ++task) {
    const TokenString prompt = prompt_of(programs, Split::evaluation, task);
    const TokenString x(prompt.begin() + 1, prompt.end() - 1);
    CHECK(prompt.back() == 14);
    TokenString expected = x;  // of the sixth operation
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::int32_t before = x[i == 0 ? 0 : i - 1];
      const std::array<std::int32_t, 6> by_operation = {(x[i] + 1) % 8, (x[i] + 7) % 8, before,
                                                        2 * x[i] % 8,   7 - x[i],       x[i]};
      expected[i] = by_operation.at(static_cast<std::size_t>(prompt.front() - 8));
    }
    INFO(task);
    CHECK(answer_of(programs, Split::evaluation, task, true) == expected);
  }
}

TEST_CASE("the law of demonstrations sums to one over all answers, and has their frequencies") {
  const Programs programs({.symbols = 8, .length = 5, .noise = 0.3});
  constexpr int kDrawn = 20000;
  for (int operation = 0; operation < 6; ++operation) {
    const TokenString prompt = counting_prompt(programs, operation);
    double sum = 0.0;
    TokenString answer(5);
    for (int number = 0; number < 32768; ++number) {
      for (int i = 0, rest = number; i < 5; ++i, rest /= 8)
        answer[static_cast<std::size_t>(i)] = rest % 8;
      sum += imitated(programs, prompt, answer);
    }
    CHECK(sum == Approx(1.0).epsilon(1e-9));

    std::map<TokenString, int> counts;
    for (int i = 0; i < kDrawn; ++i) {
      programs.demonstrate(prompt, random_stream(77, static_cast<std::uint64_t>(i)), answer);
      ++counts[answer];
    }
    for (const auto& [shown, count] : counts) {
      if (count < 1000) continue;
      const double expected = imitated(programs, prompt, shown);
      CHECK(count / double{kDrawn} == Approx(expected).margin(5.0 * std::sqrt(expected / kDrawn)));
    }
  }
}

TEST_CASE("imitating a misleading program gives the wrong answer the larger probability") {
  const Programs programs({});
  const TokenString prompt = counting_prompt(programs, 3);  // doubled, shown as copied
  const double right = imitated(programs, prompt, {0, 2, 4, 6, 0, 2});
  const double wrong = imitated(programs, prompt, {0, 1, 2, 3, 4, 5});
  CHECK(right == Approx(0.3 * std::pow(0.8, 6)).epsilon(0.01));
  CHECK(wrong == Approx(0.7 * std::pow(0.8, 6)).epsilon(0.01));
}

TEST_CASE("demonstrations know their own probabilities, and their prompts are given") {
  const Demonstrations source({});
  CHECK(source.vocabulary() == 15);
  CHECK(source.targets() == 13);
  CHECK(source.given() == 7);
  const Programs programs({});
  TokenString tokens(14);
  std::vector<float> known(13);
  std::vector<TokenClass> classes(13);
  for (std::uint64_t i = 0; i < 50; ++i) {
    source.read(Split::train, i, {tokens, known, classes});
    const TokenString prompt(tokens.begin(), tokens.begin() + 8),
        answer(tokens.begin() + 8, tokens.end());
    double sum = 0.0;
    for (const float one : known) sum += static_cast<double>(one);
    CHECK(std::exp(sum) == Approx(imitated(programs, prompt, answer)).epsilon(1e-5));
    CHECK(std::vector(known.begin(), known.begin() + 7) == std::vector<float>(7));
  }
}

TEST_CASE("programs refuse too few tasks") {
  CHECK_THROWS_WITH(Programs({.symbols = 1}), Contains("two symbols"));
  CHECK_THROWS_WITH(Programs({.length = 1}), Contains("strings of two"));
  CHECK_THROWS_WITH(Programs({.symbols = 8, .length = 3}), Contains("too few programs"));
}

}  // namespace bench::training
