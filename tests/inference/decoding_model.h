// A little model for tests of inference, its decoder, and the training's forward pass over the
// weights that it stores.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/elements.h"
#include "inference/decoder.h"
#include "training/host/host_kernels.h"

namespace bench::inference {

using TokenString = std::vector<std::int32_t>;

inline training::KernelSet test_kernels(Dtype dtype) { return training::host_kernels(dtype); }

/// Two layers, grouped heads, one of them shifted, sizes that fill neither a panel nor a block.
inline training::LlmShape little_llama() {
  return {2, 48, 40, 6, 2, 64, 70, false, false, 1, 20.0};
}
inline training::LlmShape little_gpt2() { return {2, 48, 40, 3, 3, 64, 70, true, true, 0, 0.0}; }

inline DecoderModel little_model(const training::LlmShape& shape, WeightType type,
                                 int threads = 2) {
  const ParameterValues initial = initial_values(shape, 7);
  return make_decoder_model(
      shape, type,
      [&](const std::string& name, std::span<float> values) {
        initial(name, values);
        // Gains and biases that would not show a mistake are changed.
        if (name.ends_with("bias") || name.find("norm") != std::string::npos)
          for (std::size_t i = 0; i < values.size(); ++i)
            values[i] += 0.1F * static_cast<float>(static_cast<int>(i % 7) - 3);
      },
      threads);
}

inline TokenString some_tokens(std::int64_t count, std::int64_t vocabulary,
                               std::uint64_t seed = 3) {
  TokenString tokens;
  for (std::int64_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<std::int32_t>(random_bits(seed, static_cast<std::uint64_t>(i)) %
                                               static_cast<std::uint64_t>(vocabulary)));
  return tokens;
}

/// log p of each token but the first, by the training's forward pass.
inline std::vector<double> judged_by_training(const DecoderModel& model,
                                              const TokenString& tokens) {
  training::Llm llm = training::make_llm(model.shape, 1);
  const training::Plan plan = training::make_plan(*llm.graph, false);
  const training::Weights weights(plan, 1);
  copy_stored(model, plan, weights);
  training::Lane lane(plan, weights, test_kernels);
  auto* inputs = lane.view(llm.tokens).as<std::int32_t>();
  auto* targets = lane.view(llm.targets).as<std::int32_t>();
  std::fill_n(inputs, model.shape.sequence, 0);
  std::fill_n(targets, model.shape.sequence, 0);
  std::copy(tokens.begin(), tokens.end() - 1, inputs);
  std::copy(tokens.begin() + 1, tokens.end(), targets);
  lane.forward({});
  const double* losses = lane.view(llm.losses).as<double>();
  std::vector<double> known;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) known.push_back(-losses[i]);
  return known;
}

/// A decoder with a cache for so many sequences of full length.
struct TestDecoder {
  TestDecoder(const DecoderModel& of, std::int64_t sequences, int threads = 1,
              const DecoderKernels& loops = decoder_kernels())
      : model(of),
        cache({of.shape.layers, of.shape.kv_heads, of.shape.attention().head_dim},
              sequences * bench::inference::cache_blocks(of.shape.sequence)),
        decoder(model, cache, threads, 128, test_kernels, loops) {}

  /// Blocks of sequence `index`, in no simple order.
  std::vector<int> blocks_of(int index) const {
    const int each = static_cast<int>(cache_blocks(model.shape.sequence));
    std::vector<int> blocks;
    for (int i = each - 1; i >= 0; --i) blocks.push_back(index * each + i);
    return blocks;
  }

  /// Logits of every token of one sequence, passed in parts of these lengths.
  std::vector<float> logits_of(const TokenString& tokens, const std::vector<std::int64_t>& parts,
                               int index = 0) {
    const std::vector<int> blocks = blocks_of(index);
    std::vector<float> all;
    std::int64_t first = 0;
    for (const std::int64_t part : parts) {
      const DecoderInput input{std::span(tokens).subspan(static_cast<std::size_t>(first),
                                                         static_cast<std::size_t>(part)),
                               first, blocks, part};
      decoder.pass(std::span(&input, 1));
      for (std::int64_t i = 0; i < part; ++i) {
        const auto row = decoder.logits(i);
        all.insert(all.end(), row.begin(), row.end());
      }
      first += part;
    }
    return all;
  }

  const DecoderModel& model;
  PagedCache cache;
  Decoder decoder;
};

}  // namespace bench::inference
