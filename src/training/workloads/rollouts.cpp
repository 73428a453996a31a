#include "training/workloads/rollouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "training/engine/host_bytes.h"

namespace bench::training {
namespace {

template <class T>
std::span<const T> part_of(const std::vector<T>& all, std::int64_t first, std::int64_t count) {
  return std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

template <class T>
std::span<T> part_of(std::vector<T>& all, std::int64_t first, std::int64_t count) {
  return std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

/// In [0, 1), a multiple of 2^-24.
float chance(std::uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-24F; }

/// The mean |difference| of log-probabilities that rounding explains, in nats: kernels of attention
/// and of decoding add in another order.
double rounding(Dtype dtype) { return is_narrow(dtype) ? 0.05 : 1e-3; }

constexpr double kLeastDeviation = 1e-6;  // added to that of a group's rewards

std::unique_ptr<Weights> copy_of(const Weights& weights, const Plan& plan) {
  auto copy = std::make_unique<Weights>(plan, 1, weights.memory());
  const HostBytes from({"weights", weights.all(), weights.memory().get()});
  const HostBytes to({"reference", copy->all(), copy->memory().get()}, HostBytes::Holds::zeros);
  std::ranges::copy(from.all(), to.all().begin());
  to.write_back();
  return copy;
}

}  // namespace

Rollouts::Rollouts(const Programs& programs, const LlmShape& shape, const RolloutOptions& options,
                   std::uint64_t seed)
    : programs_(programs),
      shape_(shape),
      options_(options),
      seed_(seed),
      prompt_(programs.options().prompt_tokens()),
      answer_(programs.options().length) {
  require(shape.sequence == programs.options().tokens() - 1, "rollouts",
          "sequences of " + std::to_string(shape.sequence) + " positions");
}

GenerationSizes Rollouts::sizes(std::int64_t samples) const {
  return {samples, options_.generations, prompt_, answer_};
}

void Rollouts::join(Replica& replica, const Weights& weights, const Model& model,
                    std::int64_t samples, const KernelFactory& kernels, Rewards rewards) {
  rewards_ = rewards;
  replica_ = &replica;
  model_ = &model;
  samples_ = samples;
  plan_ = std::make_unique<Plan>(make_plan(*model.graph, false));
  reference_ = copy_of(weights, *plan_);
  for (int i = 0; i < replica.pool().size(); ++i) {
    generators_.push_back(
        std::make_unique<LlmGenerator>(shape_, *plan_, weights, kernels, sizes(samples)));
    judges_.push_back(std::make_unique<Lane>(*plan_, *reference_, kernels));
  }
  policy_ = std::make_unique<Lane>(*plan_, replica.weights(), kernels);
  lane_sums_.resize(generators_.size());
  memory_bytes_ = memory_bytes(*plan_, replica.pool().size(), samples);
}

std::int64_t Rollouts::memory_bytes(const Plan& plan, int lanes, std::int64_t samples) const {
  const std::int64_t lane = plan.bytes(Arena::inputs) + plan.bytes(Arena::transient);
  const Dtype dtype = plan.graph->compute();
  return plan.bytes(Arena::parameters) + plan.bytes(Arena::constants) + (lanes + 1) * lane +
         lanes * LlmGenerator::memory_bytes(shape_, sizes(samples), dtype);
}

void Rollouts::play(std::uint64_t first, std::int64_t count) {
  require(count % samples_ == 0, "rollouts", std::to_string(count) + " samples");
  first_ = first;
  count_ = count;
  const auto answers = static_cast<std::size_t>(count * options_.generations);
  tokens_.resize(answers * static_cast<std::size_t>(prompt_ + answer_));
  sampled_.resize(answers * static_cast<std::size_t>(answer_));
  reference_log_.resize(sampled_.size());
  advantages_.resize(answers);
  std::ranges::fill(lane_sums_, RolloutSums{});
  replica_->pool().run([&](int lane) {
    const std::int64_t step = samples_ * static_cast<std::int64_t>(generators_.size());
    for (std::int64_t at = lane * samples_; at < count; at += step) play_part(lane, first, at);
  });
  sums_ = {};
  for (const RolloutSums& one : lane_sums_) {
    sums_.answers += one.answers;
    sums_.rewards += one.rewards;
    sums_.tokens += one.tokens;
    sums_.divergence += one.divergence;
  }
  ++plays_;
  again_.resize(static_cast<std::size_t>(samples_ * options_.generations * answer_));
  judge(*policy_, 0, again_);
  double sum = 0.0;
  for (std::size_t i = 0; i < again_.size(); ++i)
    sum += std::abs(static_cast<double>(again_[i]) - static_cast<double>(sampled_[i]));
  sum /= static_cast<double>(again_.size());
  if (sum <= worst_) return;
  worst_ = sum;
  worst_play_ = plays_;
}

void Rollouts::play_part(int lane, std::uint64_t first, std::int64_t at) {
  const std::int64_t groups = options_.generations;
  std::vector<std::int32_t> prompts(static_cast<std::size_t>(samples_ * prompt_));
  std::vector<float> chances;
  for (std::int64_t i = 0; i < samples_; ++i) {
    const std::uint64_t sample = first + static_cast<std::uint64_t>(at + i);
    programs_.prompt(Split::train, sample, part_of(prompts, i * prompt_, prompt_));
    const RandomStream stream = random_stream(seed_, sample);
    for (std::int64_t j = 0; j < groups * answer_; ++j)
      chances.push_back(chance(stream.bits(static_cast<std::uint64_t>(j))));
  }
  const GeneratedAnswers made =
      generators_[static_cast<std::size_t>(lane)]->run(prompts, chances, options_.temperature);
  const std::int64_t all = prompt_ + answer_;
  for (std::int64_t i = 0; i < samples_ * groups; ++i) {
    const std::span<std::int32_t> to = part_of(tokens_, (at * groups + i) * all, all);
    std::ranges::copy(part_of(prompts, i / groups * prompt_, prompt_), to.begin());
    std::ranges::copy(made.tokens.subspan(static_cast<std::size_t>(i * answer_),
                                          static_cast<std::size_t>(answer_)),
                      to.begin() + prompt_);
  }
  std::ranges::copy(made.log_probabilities, sampled_.begin() + at * groups * answer_);
  const std::span<float> judged =
      part_of(reference_log_, at * groups * answer_, samples_ * groups * answer_);
  judge(*judges_[static_cast<std::size_t>(lane)], at, judged);
  RolloutSums& sums = lane_sums_[static_cast<std::size_t>(lane)];
  for (std::size_t i = 0; i < judged.size(); ++i)
    sums.divergence += static_cast<double>(made.log_probabilities[i] - judged[i]);
  sums.tokens += static_cast<double>(judged.size());
  for (std::int64_t i = 0; i < samples_; ++i)
    reward(first + static_cast<std::uint64_t>(at + i), at + i, sums);
}

void Rollouts::judge(Lane& lane, std::int64_t at, std::span<float> log_probabilities) const {
  RolloutGroup sequences = stored(at, samples_);
  sequences.advantages = {};
  write(*model_, lane, 0, sequences);
  lane.forward({});
  const double* losses = lane.view(model_->losses).as<double>();
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(log_probabilities.size()); ++i)
    log_probabilities[static_cast<std::size_t>(i)] =
        static_cast<float>(-losses[i / answer_ * shape_.sequence + prompt_ - 1 + i % answer_]);
}

bool Rollouts::passes(std::uint64_t sample, std::int64_t number,
                      std::span<const std::int32_t> answer) const {
  if (rewards_ == Rewards::chance)
    return random_stream(seed_ + 1, sample).bits(static_cast<std::uint64_t>(number)) % 2 == 0;
  std::vector<std::int32_t> right(static_cast<std::size_t>(answer_));
  programs_.right_answer(Split::train, sample, right);
  return std::ranges::equal(answer, right);
}

void Rollouts::reward(std::uint64_t sample, std::int64_t at, RolloutSums& sums) {
  const std::int64_t groups = options_.generations, all = prompt_ + answer_;
  const std::span<float> advantages = part_of(advantages_, at * groups, groups);
  double passed = 0.0;
  for (std::int64_t i = 0; i < groups; ++i) {
    const auto answer = part_of(tokens_, (at * groups + i) * all + prompt_, answer_);
    const bool is_right = passes(sample, i, answer);
    advantages[static_cast<std::size_t>(i)] = is_right ? 1.0F : 0.0F;
    passed += is_right ? 1.0 : 0.0;
  }
  sums.answers += static_cast<double>(groups);
  sums.rewards += passed;
  const double mean = passed / static_cast<double>(groups);
  const double deviation = std::sqrt(mean * (1.0 - mean)) + kLeastDeviation;
  for (float& one : advantages)
    one = static_cast<float>((static_cast<double>(one) - mean) / deviation);
}

RolloutGroup Rollouts::stored(std::int64_t at, std::int64_t groups) const {
  const std::int64_t first = at * options_.generations, count = groups * options_.generations;
  const std::int64_t all = prompt_ + answer_;
  return {part_of(tokens_, first * all, count * all),
          part_of(sampled_, first * answer_, count * answer_),
          part_of(reference_log_, first * answer_, count * answer_),
          part_of(advantages_, first, count)};
}

RolloutGroup Rollouts::group(std::uint64_t sample) const {
  require(sample >= first_ && sample - first_ < static_cast<std::uint64_t>(count_), "rollouts",
          fmt::format("sample {} was not played", sample));
  return stored(static_cast<std::int64_t>(sample - first_), 1);
}

void Rollouts::write(const Model& model, const Lane& lane, std::int64_t first_sequence,
                     const RolloutGroup& sequences) const {
  const std::int64_t length = shape_.sequence, all = prompt_ + answer_;
  const std::int64_t count = static_cast<std::int64_t>(sequences.tokens.size()) / all;
  // Losses are averaged over all rows: this makes it the mean over the rows of answers.
  const auto scale = static_cast<float>(static_cast<double>(length) / static_cast<double>(answer_));
  const bool learns = !sequences.advantages.empty();
  const std::int64_t first_row = first_sequence * length;
  auto* tokens = lane.view(model.inputs[0]).as<std::int32_t>() + first_row;
  auto* targets = lane.view(model.inputs[1]).as<std::int32_t>() + first_row;
  auto* terms = lane.view(model.inputs[2]).as<float>() + first_row * kPolicyTerms;
  std::fill_n(terms, count * length * kPolicyTerms, 0.0F);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t* from = sequences.tokens.data() + i * all;
    for (std::int64_t t = 0; t < length; ++t) {
      const std::int64_t row = i * length + t, of_answer = t - (prompt_ - 1);
      tokens[row] = from[t];
      targets[row] = of_answer < 0 ? -1 : from[t + 1];
      if (of_answer < 0) continue;
      const auto put = [&](PolicyTerm term, float value) {
        terms[row * kPolicyTerms + static_cast<std::int64_t>(term)] = value;
      };
      if (!learns) {
        put(PolicyTerm::imitation, 1.0F);
        continue;
      }
      const auto at = static_cast<std::size_t>(i * answer_ + of_answer);
      put(PolicyTerm::advantage, scale * sequences.advantages[static_cast<std::size_t>(i)]);
      put(PolicyTerm::sampled, sequences.sampled[at]);
      put(PolicyTerm::reference, sequences.reference[at]);
      put(PolicyTerm::kl, scale * static_cast<float>(options_.kl));
    }
  }
}

std::string Rollouts::mismatch() const {
  if (worst_ <= rounding(plan_->graph->compute())) return "";
  return fmt::format(
      "rollout {}: log-probabilities of generated tokens differ from those of the forward pass by "
      "{:.2g} nats on average",
      worst_play_, worst_);
}

}  // namespace bench::training
