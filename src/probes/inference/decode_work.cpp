#include "probes/inference/decode_work.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>

#include "core/elements.h"
#include "training/engine/lane.h"

namespace bench {
namespace {

using inference::Decoder;
using inference::DecoderInput;

constexpr std::int64_t kComparedTokens = 65;
constexpr std::int64_t kPromptPart = 7;
constexpr double kWideTolerance = 1e-3, kRoundedTolerance = 0.25;  // nats

/// Logits that are not numbers, or not equal bit by bit.
double different(std::span<const float> a, std::span<const float> b) {
  double count = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!std::isfinite(a[i]) ||
        std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]))
      count += 1.0;
  return count;
}

/// One sequence's prompt, in parts.
void pass_prompt(Decoder& decoder, const std::vector<std::int32_t>& tokens,
                 std::span<const int> blocks, std::int64_t part) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  for (std::int64_t first = 0; first < count; first += part) {
    const std::int64_t length = std::min(part, count - first);
    const DecoderInput input{std::span(tokens).subspan(static_cast<std::size_t>(first),
                                                       static_cast<std::size_t>(length)),
                             first, blocks, first + length == count ? 1 : 0};
    decoder.pass(std::span(&input, 1));
  }
}

}  // namespace

std::vector<int> SequenceBlocks::of(std::int64_t sequence) const {
  std::vector<int> blocks(static_cast<std::size_t>(each_));
  std::iota(blocks.begin(), blocks.end(), static_cast<int>(sequence * each_));
  return blocks;
}

std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t vocabulary,
                                        std::uint64_t seed) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<std::int32_t>(random_bits(seed, static_cast<std::uint64_t>(i)) %
                                               static_cast<std::uint64_t>(vocabulary)));
  return tokens;
}

DecodeWork::DecodeWork(Decoder& decoder, std::int64_t batch, std::int64_t tokens,
                       std::uint64_t seed)
    : decoder_(decoder) {
  const std::int64_t vocabulary = decoder.model().shape.vocabulary;
  const SequenceBlocks blocks(tokens + 1);
  next_ = random_tokens(batch, vocabulary, random_bits(seed, 0));
  for (std::int64_t i = 0; i < batch; ++i) {
    blocks_.push_back(blocks.of(i));
    const std::uint64_t own = random_bits(seed, static_cast<std::uint64_t>(i) + 1);
    pass_prompt(decoder, random_tokens(tokens, vocabulary, own), blocks_.back(),
                decoder.most_rows());
  }
  for (std::size_t i = 0; i < next_.size(); ++i)
    inputs_.push_back({std::span(next_).subspan(i, 1), tokens, blocks_[i], 1});
}

void DecodeWork::run(std::int64_t calls) {
  for (std::int64_t i = 0; i < calls; ++i) decoder_.pass(inputs_);
}

Check DecodeWork::check() {
  std::vector<std::vector<float>> together;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto logits = decoder_.logits(static_cast<std::int64_t>(i));
    together.emplace_back(logits.begin(), logits.end());
  }
  Check check{"logits equal, bit by bit, to those of each sequence alone", 0.0, 0.0};
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    decoder_.pass(std::span(&inputs_[i], 1));
    check.error += different(together[i], decoder_.logits(0));
  }
  return check;
}

double DecodeWork::cache_bytes(const inference::DecoderModel& model, std::int64_t batch,
                               std::int64_t tokens) {
  const training::AttentionShape heads = model.shape.attention();
  return static_cast<double>(batch * (tokens + 1) * model.shape.layers * 2 * heads.kv_heads *
                             heads.head_dim * 4);
}

PromptWork::PromptWork(Decoder& decoder, std::int64_t tokens, std::uint64_t seed)
    : decoder_(decoder),
      prompt_(random_tokens(tokens, decoder.model().shape.vocabulary, seed)),
      blocks_(SequenceBlocks(tokens).of(0)) {}

void PromptWork::pass(std::int64_t part) { pass_prompt(decoder_, prompt_, blocks_, part); }

void PromptWork::run(std::int64_t calls) {
  for (std::int64_t i = 0; i < calls; ++i) pass(decoder_.most_rows());
}

Check PromptWork::check() {
  const auto timed = decoder_.logits(0);
  const std::vector<float> whole(timed.begin(), timed.end());
  const auto half = std::max<std::int64_t>(1, static_cast<std::int64_t>(prompt_.size()) / 2);
  pass(std::min({kPromptPart, half, decoder_.most_rows()}));
  return {"logits equal, bit by bit, to those of the prompt in parts",
          different(whole, decoder_.logits(0)), 0.0};
}

Check distance_from_training(Decoder& decoder, const training::KernelFactory& kernels,
                             std::uint64_t seed) {
  const inference::DecoderModel& model = decoder.model();
  training::LlmShape shape = model.shape;
  shape.sequence = std::min(shape.sequence, kComparedTokens - 1);
  const auto tokens = random_tokens(shape.sequence + 1, shape.vocabulary, seed);

  training::Llm llm = training::make_llm(shape, 1);
  const training::Plan plan = training::make_plan(*llm.graph, false);
  const training::Weights weights(plan, 1);
  inference::copy_stored(model, plan, weights);
  training::Lane lane(plan, weights, kernels);
  std::copy(tokens.begin(), tokens.end() - 1, lane.view(llm.tokens).as<std::int32_t>());
  std::copy(tokens.begin() + 1, tokens.end(), lane.view(llm.targets).as<std::int32_t>());
  lane.forward({});
  const double* losses = lane.view(llm.losses).as<double>();

  const std::vector<int> blocks = SequenceBlocks(shape.sequence).of(0);
  const std::int64_t part = std::min(decoder.most_rows(), decoder.most_wanted());
  Check check{"log-probabilities of the training's forward pass", 0.0,
              is_quantised(model.type) ? kRoundedTolerance : kWideTolerance};
  for (std::int64_t first = 0; first < shape.sequence; first += part) {
    const std::int64_t count = std::min(part, shape.sequence - first);
    const DecoderInput input{
        std::span(tokens).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
        first, blocks, count};
    decoder.pass(std::span(&input, 1));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(first + i);
      const double distance = std::fabs(decoder.log_probability(i, tokens[at + 1]) + losses[at]);
      if (std::isnan(distance)) return {check.method, distance, check.tolerance};
      check.error = std::max(check.error, distance);
    }
  }
  return check;
}

double bytes_for_distance(const training::LlmShape& shape) {
  training::LlmShape compared = shape;
  compared.sequence = std::min(shape.sequence, kComparedTokens - 1);
  const training::Llm llm = training::make_llm(compared, 1);
  double bytes = 0.0;
  for (const std::int64_t arena : training::make_plan(*llm.graph, false).arena_bytes)
    bytes += static_cast<double>(arena);
  return bytes;
}

}  // namespace bench
