// The decoder against the training's forward pass, and its promise that a batch, other parts of a
// prompt, threads and blocks change no bit of a sequence.
#include "inference/decoder.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "tests/inference/decoding_model.h"
#include "tests/support/catch.h"

namespace bench::inference {
namespace {

using Catch::Matchers::Contains;

constexpr std::int64_t kTokens = 37;

/// The largest difference of log p from the training's.
double distance_from_training(const DecoderModel& model, const DecoderKernels& loops) {
  const TokenString tokens = some_tokens(kTokens, model.shape.vocabulary);
  const std::vector<double> known = judged_by_training(model, tokens);
  TestDecoder test(model, 1, 2, loops);
  const std::vector<int> blocks = test.blocks_of(0);
  const DecoderInput input{std::span(tokens).first(kTokens - 1), 0, blocks, kTokens - 1};
  test.decoder.pass(std::span(&input, 1));
  double worst = 0.0;
  for (std::int64_t i = 0; i + 1 < kTokens; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double d = std::fabs(test.decoder.log_probability(i, tokens.at(at + 1)) - known.at(at));
    if (std::isnan(d)) return d;
    worst = std::max(worst, d);
  }
  return worst;
}

}  // namespace

TEST_CASE("a decoder computes what the training's forward pass does, on every instruction set") {
  training::LlmShape odd = little_llama();  // heads that fill no vector
  odd.width = 120;
  for (const auto& shape : {little_llama(), little_gpt2(), odd})
    for (const DecoderKernels* loops : all_decoder_kernels()) {
      INFO(loops->isa);
      CHECK(distance_from_training(little_model(shape, WeightType::f32), *loops) < 1e-5);
      CHECK(distance_from_training(little_model(shape, WeightType::bf16), *loops) < 1e-5);
      // Inputs rounded to 8 bits.
      CHECK(distance_from_training(little_model(shape, WeightType::int8), *loops) < 0.1);
      CHECK(distance_from_training(little_model(shape, WeightType::int4), *loops) < 0.1);
    }
}

TEST_CASE("parts of a prompt, threads and blocks change no bit of a sequence's logits") {
  for (const WeightType type :
       {WeightType::f32, WeightType::bf16, WeightType::int8, WeightType::int4}) {
    const DecoderModel model =
        little_model(type == WeightType::int8 ? little_gpt2() : little_llama(), type);
    const TokenString tokens = some_tokens(kTokens, model.shape.vocabulary);
    TestDecoder one(model, 3);
    const std::vector<float> known = one.logits_of(tokens, {kTokens});
    TestDecoder three(model, 3, 3);
    for (const auto& parts : std::vector<std::vector<std::int64_t>>{
             {kTokens}, {16, 16, 5}, {7, 30}, std::vector<std::int64_t>(kTokens, 1)}) {
      CHECK(one.logits_of(tokens, parts, 1) == known);
      CHECK(three.logits_of(tokens, parts, 2) == known);
    }
  }
}

TEST_CASE("other sequences in a batch change no bit of a sequence's logits") {
  for (const DecoderKernels* loops : all_decoder_kernels())
    for (const WeightType type :
         {WeightType::f32, WeightType::bf16, WeightType::int8, WeightType::int4}) {
      const DecoderModel model = little_model(little_llama(), type);
      TestDecoder alone(model, 1, 1, *loops), batch(model, 14, 2, *loops);
      std::vector<TokenString> prompts;
      std::vector<std::vector<int>> blocks;
      for (int i = 0; i < 14; ++i) {
        prompts.push_back(some_tokens(1 + 2 * i, 70, static_cast<std::uint64_t>(i)));
        blocks.push_back(batch.blocks_of(i));
      }
      std::vector<DecoderInput> inputs;
      for (std::size_t i = 0; i < 14; ++i) {
        if (prompts[i].size() > 20) prompts[i].resize(3);
        inputs.push_back({prompts[i], 0, blocks[i], 1});
      }
      batch.decoder.pass(inputs);
      for (std::size_t i = 0; i < 14; ++i) {
        const auto count = static_cast<std::int64_t>(prompts[i].size());
        const std::vector<float> known = alone.logits_of(prompts[i], {count});
        const auto row = batch.decoder.logits(static_cast<std::int64_t>(i));
        INFO(loops->isa << " " << i);
        CHECK(std::equal(row.begin(), row.end(), known.end() - 70));
      }
    }
}

TEST_CASE("a decoder refuses tokens, positions and blocks that do not fit") {
  const DecoderModel model = little_model(little_llama(), WeightType::f32);
  TestDecoder test(model, 1);
  const std::vector<int> blocks = test.blocks_of(0);
  const auto pass = [&](const TokenString& tokens, std::int64_t first, std::size_t known) {
    const DecoderInput input{tokens, first, std::span(blocks).first(known)};
    test.decoder.pass(std::span(&input, 1));
  };
  CHECK_THROWS_WITH(pass({70}, 0, 4), Contains("token 70 of a vocabulary of 70"));
  CHECK_THROWS_WITH(pass({-1}, 0, 4), Contains("token -1"));
  CHECK_THROWS_WITH(pass({1}, 64, 4), Contains("positions 64 to 65 of 64"));
  CHECK_THROWS_WITH(pass({1}, 16, 1), Contains("1 blocks for 17 positions"));
  CHECK_THROWS_WITH(pass(TokenString(65, 1), 0, 4), Contains("positions 0 to 65"));
  const std::vector<int> foreign = {0, 4};
  const TokenString sixty(60, 1);
  const DecoderInput outside{{sixty.data(), 17}, 0, foreign};
  CHECK_THROWS_WITH(test.decoder.pass(std::span(&outside, 1)), Contains("block 4 of a cache of 4"));
  const std::vector<DecoderInput> three(3, {sixty, 0, blocks});
  CHECK_THROWS_WITH(test.decoder.pass(three), Contains("180 tokens in a pass"));
}

}  // namespace bench::inference
