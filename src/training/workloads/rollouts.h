// What a policy answers to prompts, and what it earns: before each step, the current weights
// generate a group of answers to every prompt of the step, a verifier rewards each, and the group's
// mean is the baseline (GRPO, arXiv 2402.03300). The frozen reference is the model as it was when
// the training began.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "devices/group.h"
#include "training/engine/replica.h"
#include "training/models/llm_generator.h"
#include "training/sources/programs.h"

namespace bench::training {

struct RolloutOptions {
  std::int64_t generations = 8;  // answers to a prompt
  double temperature = 1.0;
  double kl = 0.0;  // weight of the divergence from the reference in the loss
};

/// The answers to one prompt.
struct RolloutGroup {
  std::span<const std::int32_t> tokens;  // [generations, prompt and answer]
  std::span<const float> sampled;        // [generations, answer], log-probabilities
  std::span<const float> reference;      // [generations, answer]
  std::span<const float> advantages;     // [generations]
};

/// What the last play() earned, on this rank.
struct RolloutSums {
  double answers = 0.0, rewards = 0.0;
  double tokens = 0.0, divergence = 0.0;  // log p - log p_reference, over the tokens
};

/// A sample is a prompt with its group.
class Rollouts {
 public:
  /// `shape` has the sequences of the programs without their last token. `programs` must outlive
  /// this.
  Rollouts(const Programs& programs, const LlmShape& shape, const RolloutOptions& options,
           std::uint64_t seed);

  /// Where rewards come from. Chance is for measurements of throughput with untrained weights, of
  /// whose answers none is right: without different rewards, nothing is learned.
  enum class Rewards { verifier, chance };

  /// `model`: of a policy, for so many samples; it and the replica must outlive this. `weights`
  /// generate, and are copied as the reference.
  void join(Replica& replica, const Weights& weights, const Model& model, std::int64_t samples,
            const KernelFactory& kernels, Rewards rewards = Rewards::verifier);

  /// Answers training samples first, first + 1, ...; a multiple of the samples of join(). Their
  /// answers depend on the weights and the samples' numbers only.
  void play(std::uint64_t first, std::int64_t count);
  /// Throws Error(internal) for a sample that the last play() did not answer.
  RolloutGroup group(std::uint64_t sample) const;
  const RolloutSums& sums() const { return sums_; }

  /// Writes the inputs of a policy model for sequences of prompt and answer: `sampled`, `reference`
  /// [sequences, answer] and `advantages` [sequences] may be empty for an evaluation, in which a
  /// row's loss is -log p of its target.
  void write(const Model& model, const Lane& lane, std::int64_t first_sequence,
             const RolloutGroup& sequences) const;

  /// Whether the replica's forward pass gives the sampled tokens the probabilities with which they
  /// were generated: if not, generation used other weights, or computes something else. "" if so,
  /// else what was found.
  std::string mismatch() const;
  std::int64_t plays() const { return plays_; }

  std::int64_t memory_bytes() const { return memory_bytes_; }
  /// The same for `lanes` lanes, before they exist; `plan` is an evaluation's.
  std::int64_t memory_bytes(const Plan& plan, int lanes, std::int64_t samples) const;

 private:
  GenerationSizes sizes(std::int64_t samples) const;
  void play_part(int lane, std::uint64_t first, std::int64_t at);
  /// Log-probabilities of the answers at `at`, by the lane's weights.
  void judge(Lane& lane, std::int64_t at, std::span<float> log_probabilities) const;
  bool passes(std::uint64_t sample, std::int64_t number,
              std::span<const std::int32_t> answer) const;
  void reward(std::uint64_t sample, std::int64_t at, RolloutSums& sums);
  RolloutGroup stored(std::int64_t at, std::int64_t groups) const;

  const Programs& programs_;
  LlmShape shape_;
  RolloutOptions options_;
  std::uint64_t seed_;
  std::int64_t prompt_, answer_;  // tokens
  Rewards rewards_ = Rewards::verifier;
  const Model* model_ = nullptr;
  Replica* replica_ = nullptr;
  std::int64_t samples_ = 0;
  std::unique_ptr<Plan> plan_ = {};
  std::unique_ptr<Weights> reference_ = {};
  std::vector<std::unique_ptr<LlmGenerator>> generators_ = {};  // by lane
  std::vector<std::unique_ptr<Lane>> judges_ = {};              // by lane, of the reference
  std::unique_ptr<Lane> policy_ = {};                           // of the replica's weights
  std::int64_t memory_bytes_ = 0;

  std::uint64_t first_ = 0;
  std::int64_t count_ = 0;
  std::vector<std::int32_t> tokens_ = {};
  std::vector<float> sampled_ = {}, reference_log_ = {}, advantages_ = {}, again_ = {};
  std::vector<RolloutSums> lane_sums_ = {};
  RolloutSums sums_ = {};
  std::int64_t plays_ = 0, worst_play_ = 0;
  double worst_ = 0.0;  // mean |difference| of log-probabilities
};

}  // namespace bench::training
