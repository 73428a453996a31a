#include "training/workloads/rollouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "training/engine/host_bytes.h"

namespace bench::training {
namespace {

/// Elements first to first + count - 1 of a vector.
auto part_of(auto& all, std::int64_t first, std::int64_t count) {
  return std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

/// In [0, 1), a multiple of 2^-24.
float narrow_uniform(std::uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-24F; }

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

template <class T>
void broadcast_all(std::vector<T>& values, int root, Group& group) {
  group.broadcast(std::as_writable_bytes(std::span(values)), root);
}

}  // namespace

RolloutSums& RolloutSums::operator+=(const RolloutSums& other) {
  answers += other.answers;
  rewards += other.rewards;
  tokens += other.tokens;
  divergence += other.divergence;
  return *this;
}

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
  generators_.clear();
  judges_.clear();
  plan_ = std::make_unique<Plan>(make_plan(*model.graph, false));
  reference_ = copy_of(weights, *plan_);
  for (int i = 0; i < replica.pool().size(); ++i) {
    generators_.push_back(
        std::make_unique<LlmGenerator>(shape_, *plan_, weights, kernels, sizes(samples)));
    judges_.push_back(std::make_unique<Lane>(*plan_, *reference_, kernels));
  }
}

std::int64_t Rollouts::memory_bytes() const {
  const View reference = reference_->all();
  std::int64_t sum = reference.elements() * static_cast<std::int64_t>(size_of(reference.dtype)) +
                     plan_->bytes(Arena::constants);
  for (const auto& generator : generators_)
    sum += generator->memory_bytes() + plan_->bytes(Arena::inputs) + plan_->bytes(Arena::transient);
  return sum;
}

std::int64_t Rollouts::memory_bytes(const Plan& plan, int lanes, std::int64_t samples) const {
  const std::int64_t lane =
      plan.bytes(Arena::inputs) + plan.bytes(Arena::transient) +
      LlmGenerator::memory_bytes(shape_, sizes(samples), plan.graph->compute());
  return plan.bytes(Arena::parameters) + plan.bytes(Arena::constants) + lanes * lane;
}

void Rollouts::allocate(std::uint64_t first, std::int64_t count) {
  require(count % samples_ == 0, "rollouts", std::to_string(count) + " samples");
  answers_.first = first;
  answers_.count = count;
  const auto answers = static_cast<std::size_t>(count * options_.generations);
  answers_.tokens.resize(answers * static_cast<std::size_t>(prompt_ + answer_));
  answers_.sampled.resize(answers * static_cast<std::size_t>(answer_));
  answers_.reference.resize(answers_.sampled.size());
  answers_.advantages.resize(answers);
}

void Rollouts::play(std::uint64_t first, std::int64_t count, Rewards rewards) {
  allocate(first, count);
  std::vector<RolloutSums> by_lane(generators_.size());
  replica_->pool().run([&](int lane) {
    const std::int64_t step = samples_ * static_cast<std::int64_t>(by_lane.size());
    for (std::int64_t at = lane * samples_; at < count; at += step)
      by_lane[static_cast<std::size_t>(lane)] += play_part(lane, at, rewards);
  });
  sums_ = {};
  for (const RolloutSums& one : by_lane) sums_ += one;
}

RolloutSums Rollouts::play_part(int lane, std::int64_t at, Rewards rewards) {
  generate(lane, at);
  const std::int64_t answers = samples_ * options_.generations, first = at * options_.generations;
  const auto sampled = part_of(answers_.sampled, first * answer_, answers * answer_);
  const auto judged = part_of(answers_.reference, first * answer_, answers * answer_);
  judge(*judges_[static_cast<std::size_t>(lane)], at, judged);
  RolloutSums sums{.answers = static_cast<double>(answers),
                   .tokens = static_cast<double>(answers * answer_)};
  for (std::size_t i = 0; i < judged.size(); ++i)
    sums.divergence += static_cast<double>(sampled[i]) - static_cast<double>(judged[i]);
  for (std::int64_t i = 0; i < samples_; ++i) sums.rewards += reward(at + i, rewards);
  return sums;
}

void Rollouts::generate(int lane, std::int64_t at) {
  const std::int64_t answers = samples_ * options_.generations, length = prompt_ + answer_;
  std::vector<std::int32_t> prompts(static_cast<std::size_t>(samples_ * prompt_));
  std::vector<float> chances;
  for (std::int64_t i = 0; i < samples_; ++i) {
    const std::uint64_t sample = answers_.first + static_cast<std::uint64_t>(at + i);
    programs_.prompt(Split::train, sample, part_of(prompts, i * prompt_, prompt_));
    const RandomStream stream = random_stream(seed_, sample);
    for (std::int64_t j = 0; j < options_.generations * answer_; ++j)
      chances.push_back(narrow_uniform(stream.bits(static_cast<std::uint64_t>(j))));
  }
  const GeneratedAnswers generated =
      generators_[static_cast<std::size_t>(lane)]->run(prompts, chances, options_.temperature);
  const std::int64_t first = at * options_.generations;
  for (std::int64_t i = 0; i < answers; ++i) {
    const auto sequence = part_of(answers_.tokens, (first + i) * length, length);
    std::ranges::copy(part_of(prompts, i / options_.generations * prompt_, prompt_),
                      sequence.begin());
    std::ranges::copy(part_of(generated.tokens, i * answer_, answer_), sequence.begin() + prompt_);
  }
  std::ranges::copy(generated.log_probabilities, answers_.sampled.begin() + first * answer_);
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

double Rollouts::reward(std::int64_t at, Rewards rewards) {
  const std::uint64_t sample = answers_.first + static_cast<std::uint64_t>(at);
  const std::int64_t group = options_.generations, length = prompt_ + answer_;
  std::vector<std::int32_t> right(static_cast<std::size_t>(answer_));
  programs_.right_answer(Split::train, sample, right);
  const auto passes = [&](std::int64_t i) {
    if (rewards == Rewards::random)  // never all the same
      return i == 0 ||
             (i > 1 &&
              random_stream(seed_ + 1, sample).bits(static_cast<std::uint64_t>(i)) % 2 == 0);
    const std::int64_t begin = (at * group + i) * length + prompt_;
    return std::ranges::equal(part_of(answers_.tokens, begin, answer_), right);
  };
  const auto advantages = part_of(answers_.advantages, at * group, group);
  double passed = 0.0;
  for (std::int64_t i = 0; i < group; ++i) {
    const double reward = passes(i) ? 1.0 : 0.0;
    advantages[static_cast<std::size_t>(i)] = static_cast<float>(reward);
    passed += reward;
  }
  const double mean = passed / static_cast<double>(group);
  const double deviation = std::sqrt(mean * (1.0 - mean)) + kLeastDeviation;
  for (float& one : advantages)
    one = static_cast<float>((static_cast<double>(one) - mean) / deviation);
  return passed;
}

RolloutGroup Rollouts::stored(std::int64_t at, std::int64_t groups) const {
  const std::int64_t first = at * options_.generations, count = groups * options_.generations;
  const std::int64_t length = prompt_ + answer_;
  return {part_of(answers_.tokens, first * length, count * length),
          part_of(answers_.sampled, first * answer_, count * answer_),
          part_of(answers_.reference, first * answer_, count * answer_),
          part_of(answers_.advantages, first, count)};
}

RolloutGroup Rollouts::group(std::uint64_t sample) const {
  const std::uint64_t first = answers_.first;
  require(sample >= first && sample - first < static_cast<std::uint64_t>(answers_.count),
          "rollouts", fmt::format("sample {} was not played", sample));
  return stored(static_cast<std::int64_t>(sample - first), 1);
}

void Rollouts::share(std::uint64_t first, std::int64_t count, Group& group) {
  play(first, count, Rewards::random);
  shared_.assign(static_cast<std::size_t>(group.size()), answers_);
  for (int rank = 0; rank < group.size(); ++rank) {
    Answers& of_rank = shared_[static_cast<std::size_t>(rank)];
    std::vector<std::uint64_t> number = {of_rank.first};
    broadcast_all(number, rank, group);
    of_rank.first = number.front();
    broadcast_all(of_rank.tokens, rank, group);
    broadcast_all(of_rank.sampled, rank, group);
    broadcast_all(of_rank.reference, rank, group);
    broadcast_all(of_rank.advantages, rank, group);
  }
}

void Rollouts::write(const Model& model, const Lane& lane, std::int64_t first_sequence,
                     const RolloutGroup& sequences) const {
  const std::int64_t rows = shape_.sequence, length = prompt_ + answer_;
  const std::int64_t count = static_cast<std::int64_t>(sequences.tokens.size()) / length;
  // Losses are averaged over all rows: this makes it the mean over the rows of answers.
  const auto scale = static_cast<float>(static_cast<double>(rows) / static_cast<double>(answer_));
  const bool learns = !sequences.advantages.empty();
  const std::int64_t first_row = first_sequence * rows;
  auto* tokens = lane.view(model.inputs[0]).as<std::int32_t>() + first_row;
  auto* targets = lane.view(model.inputs[1]).as<std::int32_t>() + first_row;
  auto* terms = lane.view(model.inputs[2]).as<float>() + first_row * kPolicyTerms;
  std::fill_n(terms, count * rows * kPolicyTerms, 0.0F);
  for (std::int64_t row = 0; row < count * rows; ++row) {
    const std::int64_t sequence = row / rows, position = row % rows;
    const std::int64_t of_answer = position - (prompt_ - 1);
    const std::int32_t* from = sequences.tokens.data() + sequence * length + position;
    tokens[row] = from[0];
    targets[row] = of_answer < 0 ? -1 : from[1];
    if (of_answer < 0) continue;
    const auto put = [&](PolicyTerm term, float value) {
      terms[row * kPolicyTerms + static_cast<std::int64_t>(term)] = value;
    };
    if (!learns) {
      put(PolicyTerm::imitation, 1.0F);
      continue;
    }
    const auto at = static_cast<std::size_t>(sequence * answer_ + of_answer);
    put(PolicyTerm::advantage, scale * sequences.advantages[static_cast<std::size_t>(sequence)]);
    put(PolicyTerm::sampled, sequences.sampled[at]);
    put(PolicyTerm::reference, sequences.reference[at]);
    put(PolicyTerm::kl, scale * static_cast<float>(options_.kl));
  }
}

void Rollouts::compare(Lane& lane) {
  const std::int64_t at = comparisons_++ % (answers_.count / samples_) * samples_;
  const std::int64_t tokens = samples_ * options_.generations * answer_;
  std::vector<float> judged(static_cast<std::size_t>(tokens));
  judge(lane, at, judged);
  const auto sampled = part_of(answers_.sampled, at * options_.generations * answer_, tokens);
  double difference = 0.0;
  for (std::size_t i = 0; i < judged.size(); ++i)
    difference += std::abs(static_cast<double>(judged[i]) - static_cast<double>(sampled[i])) /
                  static_cast<double>(tokens);
  if (difference <= rounding(plan_->graph->compute()) || !mismatch_.empty()) return;
  mismatch_ = fmt::format(
      "samples {} to {}: log-probabilities of generated tokens differ from those of the forward "
      "pass by {:.2g} nats on average",
      answers_.first + static_cast<std::uint64_t>(at),
      answers_.first + static_cast<std::uint64_t>(at + samples_) - 1, difference);
}

}  // namespace bench::training
