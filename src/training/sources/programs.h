// Tasks whose answers can be verified, for reinforcement learning: a prompt names an operation on a
// string of symbols, and the answer is the string that the operation makes. Demonstrations of the
// tasks are imperfect in a known way, so that the success of a model which imitates them perfectly
// is known, and so is that of the best policy:
//
//   - every symbol of a demonstration is wrong with probability `noise`;
//   - misleading operations are mostly demonstrated by another, wrong, rule: imitation gives its
//     answer the larger probability, only rewards tell;
//   - for ambiguous operations, a coin of the task that the prompt does not show decides which of
//     two rules the verifier accepts: no policy passes more often than the likelier rule does.
//
// A sequence is: operation, `length` symbols, end of prompt, `length` symbols of the answer.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "training/sources/finite.h"
#include "training/sources/random.h"
#include "training/sources/token_source.h"

namespace bench::training {

enum class ProgramKind : std::uint8_t { plain, misleading, ambiguous };
inline constexpr int kProgramKinds = 3;
std::string_view to_string(ProgramKind kind);

struct ProgramOptions {
  int symbols = 8;
  int length = 6;             // of the string and of the answer, at least 2
  double noise = 0.2;         // of a demonstrated symbol
  std::uint64_t seed = 1;     // of the order of training tasks, and of demonstrations
  std::uint64_t samples = 0;  // different training tasks; 0: all

  int prompt_tokens() const { return length + 2; }
  int tokens() const { return prompt_tokens() + length; }
};

/// Task `index` of a split; no training task is an evaluation task, and none repeats until all have
/// been seen.
class Programs {
 public:
  /// Throws Error(usage) for fewer than 2 symbols or a length below 2.
  explicit Programs(const ProgramOptions& options);

  const ProgramOptions& options() const { return options_; }
  /// Symbols are 0 to symbols - 1, then come the operations, then the end of the prompt.
  int vocabulary() const;
  /// Number of training tasks.
  std::uint64_t size() const { return order_.size(); }

  /// `prompt` has prompt_tokens().
  void prompt(Split split, std::uint64_t index, std::span<std::int32_t> prompt) const;
  /// The answer that the verifier accepts for this task; `answer` has `length` symbols.
  void right_answer(Split split, std::uint64_t index, std::span<std::int32_t> answer) const;
  /// The answer of the best policy, which does not see the task's coin.
  void best_answer(Split split, std::uint64_t index, std::span<std::int32_t> answer) const;
  ProgramKind kind(Split split, std::uint64_t index) const;

  /// What a perfect imitation of the demonstrations gives an answer to a prompt, by token: the log
  /// of its probability given the tokens before it.
  void imitation(std::span<const std::int32_t> prompt, std::span<const std::int32_t> answer,
                 std::span<double> log_probability) const;
  /// Draws a demonstration's answer to a prompt.
  void demonstrate(std::span<const std::int32_t> prompt, RandomStream chance,
                   std::span<std::int32_t> answer) const;
  /// Draws a prompt of any task.
  void draw_prompt(RandomStream chance, std::span<std::int32_t> prompt) const;

 private:
  /// The position of a task among all.
  std::uint64_t task(Split split, std::uint64_t index) const;

  ProgramOptions options_;
  int counted_;        // leading symbols of a string that the task's number decides
  FiniteOrder tasks_;  // of all tasks, the same for every seed; the first ones are evaluated
  FiniteOrder order_;  // of training tasks
};

/// Demonstrations of all tasks as text, to pretrain a model that imitates their answers; prompts
/// are given.
class Demonstrations final : public TokenSource {
 public:
  explicit Demonstrations(const ProgramOptions& options) : programs_(options) {}

  int vocabulary() const override { return programs_.vocabulary(); }
  int targets() const override { return programs_.options().tokens() - 1; }
  int given() const override { return programs_.options().prompt_tokens() - 1; }
  std::optional<std::uint64_t> size(Split) const override { return std::nullopt; }
  bool has_oracle() const override { return true; }
  void read(Split split, std::uint64_t index, const TokenSample& sample) const override;

 private:
  Programs programs_;
};

}  // namespace bench::training
