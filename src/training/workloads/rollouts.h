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

/// The answers to one prompt, or to several.
struct RolloutGroup {
  std::span<const std::int32_t> tokens;  // [answers, prompt and answer]
  std::span<const float> sampled;        // [answers, tokens of an answer], log-probabilities
  std::span<const float> reference;      // the same, in the reference
  std::span<const float> advantages;     // [answers]
};

/// What the last play() earned, on this rank.
struct RolloutSums {
  double answers = 0.0, rewards = 0.0;
  double tokens = 0.0, divergence = 0.0;  // log p - log p_reference, over the tokens

  RolloutSums& operator+=(const RolloutSums& other);
};

/// A sample is a prompt with its group.
class Rollouts {
 public:
  /// `shape` has the sequences of the programs without their last token. `programs` must outlive
  /// this.
  Rollouts(const Programs& programs, const LlmShape& shape, const RolloutOptions& options,
           std::uint64_t seed);

  /// Where rewards come from. Random ones are for measurements of throughput with untrained
  /// weights, of whose answers none is right: without different rewards, nothing is learned.
  enum class Rewards { verifier, random };

  /// `model`: of a policy, for so many samples; it and the replica must outlive this. `weights`
  /// generate, and are copied as the reference.
  void join(Replica& replica, const Weights& weights, const Model& model, std::int64_t samples,
            const KernelFactory& kernels, Rewards rewards = Rewards::verifier);

  /// Answers training samples first, first + 1, ...; a multiple of the samples of join(). Their
  /// answers depend on the weights and the samples' numbers only.
  void play(std::uint64_t first, std::int64_t count) { play(first, count, rewards_); }
  /// Throws Error(internal) for a sample that was not played.
  RolloutGroup group(std::uint64_t sample) const;
  const RolloutSums& sums() const { return sums_; }

  /// For a comparison of gradients: plays these samples with random rewards, so that no group is
  /// worth the same, and exchanges the answers; another rank's kernels might draw other tokens.
  /// Call on every rank.
  void share(std::uint64_t first, std::int64_t count, Group& group);
  /// After share(): group() gives the samples of that rank.
  void use(int rank) { answers_ = shared_.at(static_cast<std::size_t>(rank)); }

  /// Writes the inputs of a policy model for sequences of prompt and answer; of an evaluation only
  /// `tokens` is given, and a row's loss is -log p of its target.
  void write(const Model& model, const Lane& lane, std::int64_t first_sequence,
             const RolloutGroup& sequences) const;

  /// Compares the probabilities with which one part of the last play's tokens were drawn, another
  /// one each time, with a forward pass by `lane`, an evaluation's on the weights that are trained.
  /// Call before the update.
  void compare(Lane& lane);
  /// "" if all were equal but for rounding. If not, other weights generated the answers, or a
  /// decoder that computes something else; which is then what this says.
  std::string mismatch() const { return mismatch_; }
  std::int64_t comparisons() const { return comparisons_; }

  std::int64_t memory_bytes() const;
  /// The same for `lanes` lanes, before they exist; `plan` is an evaluation's.
  std::int64_t memory_bytes(const Plan& plan, int lanes, std::int64_t samples) const;

 private:
  struct Answers {
    std::uint64_t first = 0;  // sample
    std::int64_t count = 0;
    std::vector<std::int32_t> tokens = {};
    std::vector<float> sampled = {}, reference = {}, advantages = {};
  };

  void play(std::uint64_t first, std::int64_t count, Rewards rewards);
  GenerationSizes sizes(std::int64_t samples) const;
  void allocate(std::uint64_t first, std::int64_t count);
  /// Samples `at` to at + samples_ - 1 of the play, by one lane.
  RolloutSums play_part(int lane, std::int64_t at, Rewards rewards);
  void generate(int lane, std::int64_t at);
  /// Log-probabilities of the answers at `at`, by the lane's weights.
  void judge(Lane& lane, std::int64_t at, std::span<float> log_probabilities) const;
  /// Sets the advantages of one group; returns how many answers passed.
  double reward(std::int64_t at, Rewards rewards);
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

  Answers answers_ = {};
  std::vector<Answers> shared_ = {};  // by rank
  RolloutSums sums_ = {};
  std::int64_t comparisons_ = 0;
  std::string mismatch_ = {};
};

}  // namespace bench::training
