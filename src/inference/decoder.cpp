#include "inference/decoder.h"

#include <algorithm>
#include <cmath>

#include "training/operators/transformer.h"

namespace bench::inference {
namespace {

using training::View;

constexpr std::int64_t kMostWanted = 256;  // rows of logits; of the large vocabularies 128 MB

std::size_t elements(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows * columns);
}

View row_of(const float* data, std::int64_t columns) {
  return {const_cast<float*>(data), 1, columns, Dtype::f32};
}

/// Blocks of kBlockRows in the widest input of a matrix.
std::int64_t rounded_blocks(const training::LlmShape& shape) {
  const std::int64_t widest =
      std::max({shape.width, shape.hidden, shape.attention().output_columns()});
  return row_blocks(widest);
}

CacheShape cache_shape_of(const training::AttentionShape& heads, std::int64_t layers) {
  return {layers, heads.kv_heads, heads.head_dim};
}

}  // namespace

Decoder::Decoder(const DecoderModel& model, PagedCache& cache, int threads, std::int64_t most_rows,
                 const training::KernelFactory& kernels, const DecoderKernels& loops)
    : model_(model),
      cache_(cache),
      most_rows_(most_rows),
      most_wanted_(std::min(most_rows, kMostWanted)),
      heads_(model.shape.attention()),
      loops_(loops),
      team_(threads),
      x_(elements(most_rows, model.shape.width)),
      normed_(x_.size()),
      qkv_(elements(most_rows, heads_.packed_columns())),
      attended_(elements(most_rows, heads_.output_columns())),
      up_(elements(most_rows, model.shape.hidden * (model.shape.gpt2 ? 1 : 2))),
      activated_(elements(most_rows, model.shape.hidden)),
      logits_(elements(most_wanted_, model.shape.vocabulary)),
      chosen_(static_cast<std::size_t>(most_wanted_)) {
  const CacheShape needed = cache_shape_of(heads_, model.shape.layers);
  training::require(needed.layers == cache.shape().layers &&
                        needed.kv_heads == cache.shape().kv_heads &&
                        needed.head_dim == cache.shape().head_dim,
                    "decoder", "a cache of another shape");
  // Nothing is allocated within passes: a thread that threw would leave the others waiting.
  const auto most_blocks = static_cast<std::size_t>(cache_blocks(model.shape.sequence));
  for (int i = 0; i < threads; ++i) {
    Scratch& own = scratch_.emplace_back();
    own.kernels = kernels(Dtype::f32);
    own.keys.resize(most_blocks);
    own.values.resize(most_blocks);
    own.scores.resize(static_cast<std::size_t>(score_elements(model.shape.sequence)));
  }
  if (!is_quantised(model.type)) return;
  const std::int64_t blocks = rounded_blocks(model.shape);
  rounded_.resize(elements(most_rows, blocks * kBlockRows));
  scales_.resize(elements(most_rows, blocks));
  starts_.resize(elements(most_rows, blocks));
}

std::int64_t Decoder::bytes(const training::LlmShape& shape, WeightType type,
                            std::int64_t most_rows) {
  const training::AttentionShape heads = shape.attention();
  const std::int64_t floats = 2 * shape.width + heads.packed_columns() + heads.output_columns() +
                              (shape.gpt2 ? 2 : 3) * shape.hidden;
  std::int64_t of_row = 4 * floats;
  if (is_quantised(type)) of_row += rounded_blocks(shape) * (kBlockRows + 8);
  return most_rows * of_row + 4 * std::min(most_rows, kMostWanted) * shape.vocabulary;
}

std::span<const std::int32_t> Decoder::pass(std::span<const DecoderInput> inputs) {
  take(inputs);
  team_.run([this](int thread) { work(scratch_[static_cast<std::size_t>(thread)]); });
  return std::span(chosen_).first(wanted_.size());
}

std::span<const float> Decoder::logits(std::int64_t wanted) const {
  const auto columns = static_cast<std::size_t>(model_.shape.vocabulary);
  return std::span(logits_).subspan(static_cast<std::size_t>(wanted) * columns, columns);
}

double Decoder::log_probability(std::int64_t wanted, std::int32_t token) const {
  const std::span<const float> row = logits(wanted);
  const double most = *std::ranges::max_element(row);
  double sum = 0.0;
  for (const float one : row) sum += std::exp(static_cast<double>(one) - most);
  return static_cast<double>(row[static_cast<std::size_t>(token)]) - most - std::log(sum);
}

void Decoder::check(const DecoderInput& input) const {
  const auto count = static_cast<std::int64_t>(input.tokens.size());
  const std::int64_t end = input.first + count;
  training::require(input.first >= 0 && count > 0 && end <= model_.shape.sequence, "decoder",
                    "positions " + std::to_string(input.first) + " to " + std::to_string(end) +
                        " of " + std::to_string(model_.shape.sequence));
  training::require(
      static_cast<std::int64_t>(input.blocks.size()) * kCacheTokens >= end, "decoder",
      std::to_string(input.blocks.size()) + " blocks for " + std::to_string(end) + " positions");
  training::require(
      input.wanted >= 0 && input.wanted <= count, "decoder",
      std::to_string(input.wanted) + " successors of " + std::to_string(count) + " tokens");
  for (const int block : input.blocks)
    training::require(
        block >= 0 && block < cache_.blocks(), "decoder",
        "block " + std::to_string(block) + " of a cache of " + std::to_string(cache_.blocks()));
  for (const std::int32_t token : input.tokens)
    training::require(token >= 0 && token < model_.shape.vocabulary, "decoder",
                      "token " + std::to_string(token) + " of a vocabulary of " +
                          std::to_string(model_.shape.vocabulary));
}

void Decoder::take(std::span<const DecoderInput> inputs) {
  inputs_ = inputs;
  rows_.clear();
  wanted_.clear();
  tasks_.clear();
  const std::int64_t group = heads_.heads / heads_.kv_heads;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const DecoderInput& input = inputs[i];
    check(input);
    const auto first_row = static_cast<std::int64_t>(rows_.size());
    const auto count = static_cast<std::int64_t>(input.tokens.size());
    for (std::int64_t t = 0; t < count; ++t) {
      if (t >= count - input.wanted) wanted_.push_back(first_row + t);
      rows_.push_back({input.tokens[static_cast<std::size_t>(t)], input.first + t, i});
    }
    for (std::int64_t head = 0; head < heads_.kv_heads; ++head)
      for (std::int64_t query = 0; query < count * group; query += kMostQueries)
        tasks_.push_back({i, head, query, first_row});
  }
  training::require(static_cast<std::int64_t>(rows_.size()) <= most_rows_ &&
                        static_cast<std::int64_t>(wanted_.size()) <= most_wanted_,
                    "decoder", std::to_string(rows_.size()) + " tokens in a pass");
}

void Decoder::work(Scratch& own) {
  const auto rows = static_cast<std::int64_t>(rows_.size()), width = model_.shape.width;
  const auto wanted = static_cast<std::int64_t>(wanted_.size());
  team_.share(rows, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t row = first; row < end; ++row) {
      const auto& [token, position, input] = rows_[static_cast<std::size_t>(row)];
      float* x = x_.data() + row * width;
      model_.embed(token, x);
      if (!model_.shape.gpt2) continue;
      const float* of_position = model_.positions.data() + position * width;
      for (std::int64_t i = 0; i < width; ++i) x[i] += of_position[i];
    }
  });
  for (std::size_t i = 0; i < model_.layers.size(); ++i)
    work(model_.layers[i], static_cast<std::int64_t>(i), own);

  team_.share(wanted, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) {
      const std::int64_t row = wanted_[static_cast<std::size_t>(i)];
      normalise(x_.data() + row * width, model_.norm, model_.norm_bias, i, normed_.data(), own);
      round(normed_, width, i);
    }
  });
  multiply(model_.head, normed_, {}, false, wanted, logits_.data());
  team_.share(wanted, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) choose(i);
  });
}

void Decoder::work(const Layer& layer, std::int64_t index, Scratch& own) {
  const auto rows = static_cast<std::int64_t>(rows_.size()), width = model_.shape.width;
  const auto each_row = [&](const auto& of_row) {
    team_.share(rows, [&](std::int64_t first, std::int64_t end) {
      for (std::int64_t row = first; row < end; ++row) of_row(row);
    });
  };
  const auto normalise_rows = [&](const std::vector<float>& gain, const std::vector<float>& bias) {
    each_row([&](std::int64_t row) {
      normalise(x_.data() + row * width, gain, bias, row, normed_.data(), own);
      round(normed_, width, row);
    });
  };
  normalise_rows(layer.norm1, layer.norm1_bias);
  multiply(layer.wqkv, normed_, layer.wqkv_bias, false, rows, qkv_.data());
  each_row([&](std::int64_t row) { store(index, row, own); });
  team_.share(static_cast<std::int64_t>(tasks_.size()), [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i)
      attend(index, tasks_[static_cast<std::size_t>(i)], own);
  });
  if (is_quantised(model_.type))
    each_row([&](std::int64_t row) { round(attended_, heads_.output_columns(), row); });
  multiply(layer.wo, attended_, layer.wo_bias, true, rows, x_.data());
  normalise_rows(layer.norm2, layer.norm2_bias);
  multiply(layer.up, normed_, layer.up_bias, false, rows, up_.data());
  each_row([&](std::int64_t row) {
    activate(row, own);
    round(activated_, model_.shape.hidden, row);
  });
  multiply(layer.down, activated_, layer.down_bias, true, rows, x_.data());
}

void Decoder::normalise(const float* x, const std::vector<float>& gain,
                        const std::vector<float>& bias, std::int64_t row, float* to,
                        Scratch& own) const {
  const std::int64_t width = model_.shape.width;
  float statistics[2] = {};
  const View from = row_of(x, width), result = row_of(to + row * width, width);
  training::NormKernels& norm = *own.kernels.norm;
  if (bias.empty())
    norm.rms_forward(from, row_of(gain.data(), width), training::kNormEpsilon, result,
                     row_of(statistics, 1));
  else
    norm.layer_forward(from, row_of(gain.data(), width), row_of(bias.data(), width),
                       training::kNormEpsilon, result, row_of(statistics, 2));
}

void Decoder::round(const std::vector<float>& buffer, std::int64_t columns, std::int64_t row) {
  if (!is_quantised(model_.type)) return;
  const std::int64_t blocks = row_blocks(columns);
  loops_.round(buffer.data() + row * columns, columns, model_.type,
               {rounded_.data() + row * blocks * kBlockRows, scales_.data() + row * blocks,
                starts_.data() + row * blocks});
}

void Decoder::multiply(const PackedMatrix& weights, const std::vector<float>& from,
                       const std::vector<float>& bias, bool add, std::int64_t rows, float* to) {
  const MatrixPass pass{.weights = &weights,
                        .from = from.data(),
                        .rounded = {rounded_.data(), scales_.data(), starts_.data()},
                        .rows = rows,
                        .bias = bias.empty() ? nullptr : bias.data(),
                        .add = add,
                        .to = to};
  team_.share(weights.panels(),
              [&](std::int64_t first, std::int64_t end) { loops_.multiply(pass, first, end); });
}

void Decoder::store(std::int64_t layer, std::int64_t row, Scratch& own) {
  const auto& [token, position, input] = rows_[static_cast<std::size_t>(row)];
  const std::int64_t d = heads_.head_dim;
  float* packed = qkv_.data() + row * heads_.packed_columns();
  if (!model_.shape.gpt2) {
    training::AttentionShape alone = heads_;
    alone.sequence = 1;
    const View qkv = row_of(packed, heads_.packed_columns());
    own.kernels.rope->rotate(alone, false, qkv, row_of(model_.angles.data() + position * d, d), qkv,
                             false);
  }
  const int block = inputs_[input].blocks[static_cast<std::size_t>(position / kCacheTokens)];
  const std::int64_t slot = position % kCacheTokens;
  for (std::int64_t head = 0; head < heads_.kv_heads; ++head) {
    const float* key = packed + (heads_.heads + head) * d;
    const float* value = key + heads_.kv_heads * d;
    float* keys = cache_.keys(layer, block, head);
    for (std::int64_t i = 0; i < d; ++i) keys[i * kCacheTokens + slot] = key[i];
    std::copy_n(value, d, cache_.values(layer, block, head) + slot * cache_.shape().padded_dim());
  }
}

void Decoder::attend(std::int64_t layer, const AttentionTask& task, Scratch& own) {
  const DecoderInput& input = inputs_[task.input];
  const std::int64_t group = heads_.heads / heads_.kv_heads, d = heads_.head_dim;
  const std::int64_t queries = static_cast<std::int64_t>(input.tokens.size()) * group;
  AttentionPass pass{
      .head_dim = d,
      .padded_dim = cache_.shape().padded_dim(),
      .shifted = task.kv_head < heads_.shifted_kv_heads,
      .queries = static_cast<int>(std::min<std::int64_t>(kMostQueries, queries - task.first))};
  for (int i = 0; i < pass.queries; ++i) {
    const std::int64_t token = (task.first + i) / group, row = task.first_row + token;
    const std::int64_t head = task.kv_head * group + (task.first + i) % group;
    pass.query[i] = qkv_.data() + row * heads_.packed_columns() + head * d;
    pass.output[i] = attended_.data() + row * heads_.output_columns() + head * d;
    pass.length[i] = input.first + token + 1;
  }
  const std::int64_t longest = pass.length[pass.queries - 1];
  for (std::int64_t i = 0; i * kCacheTokens < longest; ++i) {
    const auto at = static_cast<std::size_t>(i);
    own.keys[at] = cache_.keys(layer, input.blocks[at], task.kv_head);
    own.values[at] = cache_.values(layer, input.blocks[at], task.kv_head);
  }
  pass.keys = own.keys.data();
  pass.values = own.values.data();
  pass.scores = own.scores.data();
  loops_.attend(pass);
}

void Decoder::activate(std::int64_t row, Scratch& own) {
  const std::int64_t hidden = model_.shape.hidden;
  const View to = row_of(activated_.data() + row * hidden, hidden);
  training::ActivationKernels& activation = *own.kernels.activation;
  if (model_.shape.gpt2)
    activation.gelu_forward(row_of(up_.data() + row * hidden, hidden), to);
  else
    activation.swiglu_forward(row_of(up_.data() + row * 2 * hidden, 2 * hidden), to);
}

void Decoder::choose(std::int64_t wanted) {
  const std::span<const float> row = logits(wanted);
  std::int32_t best = 0;
  for (std::size_t i = 1; i < row.size(); ++i)
    if (row[i] > row[static_cast<std::size_t>(best)]) best = static_cast<std::int32_t>(i);
  chosen_[static_cast<std::size_t>(wanted)] = best;
}

}  // namespace bench::inference
