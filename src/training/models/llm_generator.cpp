#include "training/models/llm_generator.h"

#include <algorithm>

#include "core/error.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

View first_rows(View view, std::int64_t count) { return rows_of(view, 0, count); }

/// to[column, row] = from[row, column]
template <class T>
void transpose(std::span<const T> from, std::int64_t rows, std::vector<T>& to) {
  to.resize(from.size());
  const std::int64_t columns = static_cast<std::int64_t>(from.size()) / rows;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      to[static_cast<std::size_t>(j * rows + i)] = from[static_cast<std::size_t>(i * columns + j)];
}

}  // namespace

std::vector<LlmGenerator::BufferSize> LlmGenerator::buffer_sizes(const LlmShape& shape,
                                                                 const GenerationSizes& sizes,
                                                                 Dtype dtype) {
  const AttentionShape heads = shape.attention();
  const Dtype wide = accumulator_of(dtype);
  const std::int64_t sequences = sizes.sequences(), prompts = sizes.prompts * sizes.prompt_tokens;
  const std::int64_t rows = std::max(prompts, sequences);
  const std::int64_t generated = sequences * sizes.answer_tokens;
  return {{&Buffers::x, rows, shape.width, dtype},
          {&Buffers::normed, rows, shape.width, dtype},
          {&Buffers::qkv, rows, heads.packed_columns(), dtype},
          {&Buffers::attended, rows, heads.output_columns(), dtype},
          {&Buffers::log_sum, rows, shape.heads, wide},
          {&Buffers::gate_up, rows, 2 * shape.hidden, dtype},
          {&Buffers::gated, rows, shape.hidden, dtype},
          {&Buffers::statistics, rows, 1, wide},
          {&Buffers::last, sequences, shape.width, dtype},
          {&Buffers::logits, sequences, shape.vocabulary, dtype},
          {&Buffers::prompts, prompts, 1, Dtype::int32},
          {&Buffers::last_rows, sequences, 1, Dtype::int32},
          {&Buffers::chances, generated, 1, Dtype::f32},
          {&Buffers::tokens, generated, 1, Dtype::int32},
          {&Buffers::log_probabilities, generated, 1, Dtype::f32}};
}

LlmGenerator::BufferSize LlmGenerator::cache_size(const LlmShape& shape,
                                                  const GenerationSizes& sizes, Dtype dtype) {
  return {nullptr, sizes.sequences() * shape.sequence,
          2 * shape.kv_heads * shape.attention().head_dim, dtype};
}

LlmGenerator::LlmGenerator(const LlmShape& shape, const Plan& plan, const Weights& weights,
                           const KernelFactory& kernels, const GenerationSizes& sizes)
    : shape_(shape), sizes_(sizes), weights_(weights), kernels_(kernels(plan.graph->compute())) {
  require(!shape.gpt2, "generator", "GPT-2 has no rotary positions");
  require(sizes.prompts > 0 && sizes.answers > 0 && sizes.prompt_tokens > 0 &&
              sizes.answer_tokens > 0 &&
              sizes.prompt_tokens + sizes.answer_tokens - 1 <= shape.sequence,
          "generator",
          std::to_string(sizes.prompt_tokens) + " + " + std::to_string(sizes.answer_tokens) +
              " tokens for sequences of " + std::to_string(shape.sequence));
  const Dtype dtype = plan.graph->compute();
  for (const BufferSize& one : buffer_sizes(shape, sizes, dtype))
    buffers_.*one.buffer = allocate(one);
  embedding_ = parameter(plan, "embedding");
  norm_ = parameter(plan, "norm");
  head_ = shape.tied_head ? embedding_ : parameter(plan, "head");
  angles_ = parameter(plan, "rope.angles");
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    const std::string at = "layer" + std::to_string(i) + ".";
    layers_.push_back({parameter(plan, at + "norm1"), parameter(plan, at + "wqkv"),
                       parameter(plan, at + "wo"), parameter(plan, at + "norm2"),
                       parameter(plan, at + "w_gate_up"), parameter(plan, at + "w_down"),
                       allocate(cache_size(shape, sizes, dtype))});
  }
  std::vector<std::int32_t> last_rows;  // of each sequence's prompt
  for (std::int64_t i = 0; i < sizes.sequences(); ++i)
    last_rows.push_back(
        static_cast<std::int32_t>((i / sizes.answers + 1) * sizes.prompt_tokens - 1));
  upload(last_rows.data(), buffers_.last_rows);
  kernels_.memory->uploaded();
}

View LlmGenerator::allocate(const BufferSize& size) {
  blocks_.emplace_back(size.bytes(), "generation", weights_.memory());
  return {blocks_.back().data(), size.rows, size.columns, size.dtype};
}

std::int64_t LlmGenerator::memory_bytes() const {
  std::int64_t sum = 0;
  for (const MemoryBlock& block : blocks_) sum += block.bytes();
  return sum;
}

std::int64_t LlmGenerator::memory_bytes(const LlmShape& shape, const GenerationSizes& sizes,
                                        Dtype dtype) {
  std::int64_t sum = shape.layers * cache_size(shape, sizes, dtype).bytes();
  for (const BufferSize& one : buffer_sizes(shape, sizes, dtype)) sum += one.bytes();
  return sum;
}

View LlmGenerator::parameter(const Plan& plan, const std::string& name) const {
  const std::vector<Tensor>& tensors = plan.graph->tensors();
  const auto found = std::ranges::find(tensors, name, &Tensor::name);
  require(found != tensors.end(), "generator", "the model has no '" + name + "'");
  return weights_.view(plan, static_cast<int>(found - tensors.begin()));
}

void LlmGenerator::upload(const void* from, View to) {
  kernels_.memory->upload(from, to.data,
                          to.elements() * static_cast<std::int64_t>(size_of(to.dtype)));
}

GeneratedAnswers LlmGenerator::run(std::span<const std::int32_t> prompts,
                                   std::span<const float> chances, double temperature) {
  const std::int64_t sequences = sizes_.sequences(), length = sizes_.answer_tokens;
  require(static_cast<std::int64_t>(prompts.size()) == sizes_.prompts * sizes_.prompt_tokens &&
              static_cast<std::int64_t>(chances.size()) == sequences * length,
          "generator", std::to_string(prompts.size()) + " tokens of prompts");
  transpose(chances, sequences, numbers_by_position_);
  upload(prompts.data(), buffers_.prompts);
  upload(numbers_by_position_.data(), buffers_.chances);
  kernels_.memory->uploaded();

  for (std::int64_t i = 0; i < length; ++i) generate(i, temperature);

  const View tokens = buffers_.tokens;
  const auto count = static_cast<std::size_t>(sequences * length);
  tokens_by_position_.resize(count);
  numbers_by_position_.resize(count);
  const auto bytes = static_cast<std::int64_t>(count * sizeof(float));
  kernels_.memory->download(tokens.data, tokens_by_position_.data(), bytes);
  kernels_.memory->download(buffers_.log_probabilities.data, numbers_by_position_.data(), bytes);
  transpose(std::span<const std::int32_t>(tokens_by_position_), length, tokens_);
  transpose(std::span<const float>(numbers_by_position_), length, log_probabilities_);
  return {tokens_, log_probabilities_};
}

void LlmGenerator::generate(std::int64_t number, double temperature) {
  const std::int64_t sequences = sizes_.sequences();
  const auto work = [&] {
    if (number == 0) {
      pass(buffers_.prompts, sizes_.prompts, 0);
      const View x = first_rows(buffers_.x, sizes_.prompts * sizes_.prompt_tokens);
      kernels_.embedding->forward(buffers_.last_rows, x, buffers_.last);
      return choose(buffers_.last, number, temperature);
    }
    pass(rows_of(buffers_.tokens, (number - 1) * sequences, sequences), sequences,
         sizes_.prompt_tokens + number - 1);
    choose(first_rows(buffers_.x, sequences), number, temperature);
  };
  if (!kernels_.recorder) return work();
  const RecordingKey key{static_cast<int>(number), -1, true, temperature};
  kernels_.recorder->run(key, work);
}

void LlmGenerator::pass(View tokens, std::int64_t sequences, std::int64_t first) {
  const std::int64_t rows = tokens.rows;
  const View x = first_rows(buffers_.x, rows), normed = first_rows(buffers_.normed, rows),
             qkv = first_rows(buffers_.qkv, rows), attended = first_rows(buffers_.attended, rows),
             statistics = first_rows(buffers_.statistics, rows),
             gate_up = first_rows(buffers_.gate_up, rows), gated = first_rows(buffers_.gated, rows);
  GemmOptions into_stream;
  into_stream.addend = x;
  kernels_.embedding->forward(tokens, embedding_, x);
  for (const Layer& layer : layers_) {
    kernels_.norm->rms_forward(x, layer.norm1, kNormEpsilon, normed, statistics);
    kernels_.gemm->multiply({}, normed, layer.wqkv, qkv);
    attend(layer, qkv, attended, sequences, first);
    kernels_.gemm->multiply(into_stream, attended, layer.wo, x);
    kernels_.norm->rms_forward(x, layer.norm2, kNormEpsilon, normed, statistics);
    kernels_.gemm->multiply({}, normed, layer.w_gate_up, gate_up);
    kernels_.activation->swiglu_forward(gate_up, gated);
    kernels_.gemm->multiply(into_stream, gated, layer.w_down, x);
  }
}

void LlmGenerator::attend(const Layer& layer, View qkv, View output, std::int64_t sequences,
                          std::int64_t first) {
  AttentionShape shape = shape_.attention();
  AttentionShape passed = shape;
  passed.sequence = qkv.rows / sequences;
  kernels_.rope->rotate(passed, false, qkv, rows_of(angles_, first, passed.sequence), qkv, false);
  kernels_.policy->store(shape, qkv, sequences, first, layer.cache);
  if (first == 0)
    kernels_.attention->forward(passed, qkv, output, first_rows(buffers_.log_sum, qkv.rows));
  else
    kernels_.policy->attend(shape, qkv, first, layer.cache, output);
}

void LlmGenerator::choose(View rows, std::int64_t number, double temperature) {
  const std::int64_t sequences = sizes_.sequences();
  const View normed = first_rows(buffers_.normed, sequences), logits = buffers_.logits;
  kernels_.norm->rms_forward(rows, norm_, kNormEpsilon, normed,
                             first_rows(buffers_.statistics, sequences));
  GemmOptions product;
  product.transpose_b = shape_.tied_head;
  kernels_.gemm->multiply(product, normed, head_, logits);
  kernels_.policy->choose(logits, rows_of(buffers_.chances, number * sequences, sequences),
                          temperature, rows_of(buffers_.tokens, number * sequences, sequences),
                          rows_of(buffers_.log_probabilities, number * sequences, sequences));
}

}  // namespace bench::training
