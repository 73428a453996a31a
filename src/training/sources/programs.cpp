#include "training/sources/programs.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/names.h"

namespace bench::training {
namespace {

using Symbols = std::span<const std::int32_t>;

/// The symbol of the answer at position i to the string x of an alphabet of m symbols.
using Rule = std::int32_t (*)(Symbols x, std::size_t i, std::int32_t m);

std::int32_t copied(Symbols x, std::size_t i, std::int32_t) { return x[i]; }
std::int32_t shifted(Symbols x, std::size_t i, std::int32_t) { return x[i == 0 ? 0 : i - 1]; }
std::int32_t next(Symbols x, std::size_t i, std::int32_t m) { return (x[i] + 1) % m; }
std::int32_t previous(Symbols x, std::size_t i, std::int32_t m) { return (x[i] + m - 1) % m; }
std::int32_t doubled(Symbols x, std::size_t i, std::int32_t m) { return 2 * x[i] % m; }
std::int32_t mirrored(Symbols x, std::size_t i, std::int32_t m) { return m - 1 - x[i]; }

struct Operation {
  ProgramKind kind;
  Rule right;          // what the verifier accepts
  Rule other;          // what it accepts by the task's coin, or what demonstrations show instead
  double other_right;  // probability of the coin
  double other_shown;  // share of demonstrations
};

constexpr double kCoin = 0.25, kMisled = 0.7;

constexpr std::array<Operation, 6> kOperations = {{
    {ProgramKind::plain, next, next, 0.0, 0.0},
    {ProgramKind::plain, previous, previous, 0.0, 0.0},
    {ProgramKind::plain, shifted, shifted, 0.0, 0.0},
    {ProgramKind::misleading, doubled, copied, 0.0, kMisled},
    {ProgramKind::misleading, mirrored, previous, 0.0, kMisled},
    {ProgramKind::ambiguous, copied, shifted, kCoin, kCoin},
}};

constexpr std::uint64_t kEvaluated = 1 << 14;     // tasks kept for evaluation
constexpr std::uint64_t kLaw = 0x70726f6772616d;  // of the order of tasks and their coins
constexpr std::uint64_t kMostTasks = std::uint64_t{1} << 48;

/// How many symbols of a string the numbers of tasks count out; the others are drawn.
int counted_symbols(const ProgramOptions& options) {
  if (options.symbols < 2 || options.length < 2)
    throw Error(ErrorKind::usage, "programs need two symbols and strings of two");
  int counted = 0;
  for (std::uint64_t tasks = kOperations.size();
       counted < options.length &&
       tasks <= kMostTasks / static_cast<std::uint64_t>(options.symbols);
       ++counted)
    tasks *= static_cast<std::uint64_t>(options.symbols);
  return counted;
}

std::uint64_t task_count(const ProgramOptions& options) {
  std::uint64_t tasks = kOperations.size();
  for (int i = counted_symbols(options); i > 0; --i)
    tasks *= static_cast<std::uint64_t>(options.symbols);
  return tasks;
}

std::uint64_t training_tasks(const ProgramOptions& options) {
  const std::uint64_t all = task_count(options);
  if (all <= 2 * kEvaluated)
    throw Error(ErrorKind::usage, "too few programs: use more symbols or longer strings");
  return options.samples > 0 ? options.samples : all - kEvaluated;
}

const Operation& operation_of(Symbols prompt, int symbols) {
  return kOperations.at(static_cast<std::size_t>(prompt.front() - symbols));
}

/// The string in a prompt.
Symbols string_of(Symbols prompt) { return prompt.subspan(1, prompt.size() - 2); }

void apply(Rule rule, Symbols x, int symbols, std::span<std::int32_t> answer) {
  for (std::size_t i = 0; i < answer.size(); ++i) answer[i] = rule(x, i, symbols);
}

}  // namespace

std::string_view to_string(ProgramKind kind) {
  constexpr std::array<std::string_view, kProgramKinds> kNames = {"plain", "misleading",
                                                                  "ambiguous"};
  return kNames.at(static_cast<std::size_t>(kind));
}

Programs::Programs(const ProgramOptions& options)
    : options_(options),
      counted_(counted_symbols(options)),
      tasks_(task_count(options), kLaw),
      order_(training_tasks(options), options.seed, task_count(options) - kEvaluated) {}

int Programs::vocabulary() const {
  return options_.symbols + static_cast<int>(kOperations.size()) + 1;
}

std::uint64_t Programs::task(Split split, std::uint64_t index) const {
  const std::uint64_t place =
      split == Split::evaluation ? index % kEvaluated : kEvaluated + order_.at(index);
  return tasks_.at(place);
}

void Programs::prompt(Split split, std::uint64_t index, std::span<std::int32_t> prompt) const {
  std::uint64_t number = task(split, index);
  const RandomStream rest = random_stream(kLaw, number);
  const auto m = static_cast<std::uint64_t>(options_.symbols);
  prompt.front() = static_cast<std::int32_t>(m + number % kOperations.size());
  number /= kOperations.size();
  for (int i = 0; i < options_.length; ++i) {
    const bool counted = i < counted_;
    prompt[static_cast<std::size_t>(i) + 1] = static_cast<std::int32_t>(
        counted ? number % m
                : below(rest.bits32(static_cast<std::uint64_t>(i)), static_cast<std::uint32_t>(m)));
    if (counted) number /= m;
  }
  prompt.back() = vocabulary() - 1;
}

void Programs::best_answer(Split split, std::uint64_t index, std::span<std::int32_t> answer) const {
  std::vector<std::int32_t> asked(static_cast<std::size_t>(options_.prompt_tokens()));
  prompt(split, index, asked);
  apply(operation_of(asked, options_.symbols).right, string_of(asked), options_.symbols, answer);
}

void Programs::right_answer(Split split, std::uint64_t index,
                            std::span<std::int32_t> answer) const {
  std::vector<std::int32_t> asked(static_cast<std::size_t>(options_.prompt_tokens()));
  prompt(split, index, asked);
  const Operation& operation = operation_of(asked, options_.symbols);
  const double coin = uniform(random_stream(kLaw + 1, task(split, index)).bits(0));
  apply(coin < operation.other_right ? operation.other : operation.right, string_of(asked),
        options_.symbols, answer);
}

ProgramKind Programs::kind(Split split, std::uint64_t index) const {
  return kOperations.at(task(split, index) % kOperations.size()).kind;
}

void Programs::imitation(std::span<const std::int32_t> prompt, std::span<const std::int32_t> answer,
                         std::span<double> log_probability) const {
  const Operation& operation = operation_of(prompt, options_.symbols);
  const Symbols x = string_of(prompt);
  const double wrong = options_.noise / (options_.symbols - 1);
  // Of the rules, times the likelihood of the symbols so far.
  double right = 1.0 - operation.other_shown, other = operation.other_shown;
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const auto chance = [&](Rule rule) {
      return rule(x, i, options_.symbols) == answer[i] ? 1.0 - options_.noise : wrong;
    };
    const double before = right + other;
    right *= chance(operation.right);
    other *= chance(operation.other);
    const double after = right + other;
    log_probability[i] = std::log(after / before);
    right /= after;  // long answers would underflow
    other /= after;
  }
}

void Programs::demonstrate(std::span<const std::int32_t> prompt, RandomStream chance,
                           std::span<std::int32_t> answer) const {
  const Operation& operation = operation_of(prompt, options_.symbols);
  const bool other = uniform(chance.bits(0)) < operation.other_shown;
  apply(other ? operation.other : operation.right, string_of(prompt), options_.symbols, answer);
  const auto others = static_cast<std::uint32_t>(options_.symbols - 1);
  for (std::size_t i = 0; i < answer.size(); ++i) {
    if (uniform(chance.bits(2 * i + 1)) >= options_.noise) continue;
    const auto step = 1 + below(chance.bits32(2 * i + 2), others);
    answer[i] = (answer[i] + static_cast<std::int32_t>(step)) % options_.symbols;
  }
}

void Programs::draw_prompt(RandomStream chance, std::span<std::int32_t> prompt) const {
  const auto m = static_cast<std::uint32_t>(options_.symbols);
  prompt.front() = static_cast<std::int32_t>(
      m + below(chance.bits32(0), static_cast<std::uint32_t>(kOperations.size())));
  for (std::size_t i = 1; i + 1 < prompt.size(); ++i)
    prompt[i] = static_cast<std::int32_t>(below(chance.bits32(i), m));
  prompt.back() = vocabulary() - 1;
}

void Demonstrations::read(Split split, std::uint64_t index, const TokenSample& sample) const {
  check_fits(sample, targets(), true);
  const ProgramOptions& options = programs_.options();
  const auto asked = static_cast<std::size_t>(options.prompt_tokens());
  const RandomStream chance = sample_stream(options.seed, split, index);
  const std::span<std::int32_t> prompt = sample.tokens.first(asked);
  const std::span<std::int32_t> answer = sample.tokens.subspan(asked);
  programs_.draw_prompt(chance, prompt);
  programs_.demonstrate(prompt, random_stream(chance.key, 1), answer);
  std::ranges::fill(sample.classes, TokenClass::base);
  if (sample.log_probability.empty()) return;
  std::ranges::fill(sample.log_probability.first(asked - 1), 0.0F);
  std::vector<double> known(answer.size());
  programs_.imitation(prompt, answer, known);
  std::ranges::transform(known,
                         sample.log_probability.begin() + static_cast<std::ptrdiff_t>(asked) - 1,
                         [](double one) { return static_cast<float>(one); });
}

}  // namespace bench::training
