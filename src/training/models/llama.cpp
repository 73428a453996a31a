#include "training/models/llama.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "training/operators/division.h"
#include "training/operators/linear.h"
#include "training/operators/ring_attention.h"
#include "training/operators/transformer.h"
#include "training/operators/vocabulary.h"

namespace bench::training {

Var LlamaParameters::parameter(const std::string& name, const Shape& shape,
                               const ParameterOptions& options) {
  ParameterOptions changed = changes_.parameter ? changes_.parameter(name, options) : options;
  if (part_.shards == 1) return graph_.parameter(name, shape, changed);
  changed.shard = {part_.shard, part_.shards, shape};
  const Var shard = graph_.parameter(name, {1, changed.shard.elements()}, changed);
  return gather_shards(shard, shape, part_.keep_gathered);
}

Var LlamaParameters::matrix(const std::string& name, const Shape& shape) {
  return parameter(name, shape, {Initial::normal(deviation())});
}

double LlamaParameters::deviation_into_residual() const {
  return deviation() / std::sqrt(2.0 * static_cast<double>(layers_));
}

Var LlamaParameters::matrix_into_residual(const std::string& name, const Shape& shape) {
  return parameter(name, shape, {Initial::normal(deviation_into_residual())});
}

Var LlamaParameters::matrix_of_divided_columns(const std::string& name, std::int64_t rows,
                                               const std::vector<std::int64_t>& blocks) {
  std::int64_t columns = 0, own = 0;
  ParameterSlice slice;
  for (const std::int64_t block : blocks) {
    require(
        block % part_.tensor_ranks == 0, name,
        std::to_string(block) + " columns over " + std::to_string(part_.tensor_ranks) + " ranks");
    const std::int64_t count = block / part_.tensor_ranks;
    slice.columns.push_back({columns + count * part_.tensor_rank, count});
    columns += block;
    own += count;
  }
  if (!divides()) return matrix(name, {rows, columns});
  slice.whole = {rows, columns};
  return parameter(name, {rows, own}, {Initial::normal(deviation()), true, true, slice});
}

Var LlamaParameters::divided_matrix_into_residual(const std::string& name, const Shape& whole) {
  if (!divides()) return matrix_into_residual(name, whole);
  const std::int64_t rows = whole.rows() / part_.tensor_ranks;
  const ParameterSlice slice{whole, rows * part_.tensor_rank, {{0, whole.columns()}}};
  return parameter(name, {rows, whole.columns()},
                   {Initial::normal(deviation_into_residual()), true, true, slice});
}

Var LlamaParameters::experts_matrix(const std::string& name, const ExpertsShape& shape,
                                    bool into_residual) {
  const Shape whole{shape.experts, shape.rows, shape.columns};
  const double spread = into_residual ? deviation_into_residual() : deviation();
  ParameterOptions options{Initial::normal(spread)};
  if (part_.expert_ranks == 1) return parameter(name, whole, options);
  const std::int64_t own = shape.experts / part_.expert_ranks;
  options.slice = {whole, part_.expert_rank * own * shape.rows, {{0, shape.columns}}};
  return parameter(name, {own, shape.rows, shape.columns}, options);
}

Var LlamaParameters::shared(Var x) const {
  if (divides_rows()) return gather_rows(x, part_.tensor_ranks);
  return divides() ? shared_by_ranks(x, part_.tensor_ranks) : x;
}

Var LlamaParameters::summed(Var x) const {
  if (divides_rows()) return sum_own_rows(x, part_.tensor_ranks);
  return divides() ? sum_over_ranks(x, part_.tensor_ranks) : x;
}

Var LlamaParameters::gain(const std::string& name) {
  const Var gain = parameter(name, {1, width_}, {Initial::constant(1.0), false});
  return divides_rows() ? shared_by_ranks(gain, part_.tensor_ranks)
                        : gain;  // each rank has the gradient of its rows
}

Var LlamaParameters::embedding_table(const std::string& name, std::int64_t vocabulary,
                                     const Initial& initial) {
  const auto [first, end] = part_.tokens(vocabulary);
  ParameterOptions options{initial};
  if (divides()) options.slice = {{vocabulary, width_}, first, {{0, width_}}};
  return parameter(name, {end - first, width_}, options);
}

Var LlamaParameters::embedded(Var tokens, Var table, std::int64_t vocabulary) const {
  return divides()
             ? summed(embedding_part(tokens, table, {part_.tokens(vocabulary).first, vocabulary}))
             : embedding(tokens, table);
}

Var LlamaParameters::head(const std::string& name, std::int64_t vocabulary) {
  const auto [first, end] = part_.tokens(vocabulary);
  ParameterOptions options{Initial::constant(0.0)};
  if (divides()) options.slice = {{width_, vocabulary}, 0, {{first, end - first}}};
  return parameter(name, {width_, end - first}, options);
}

Var LlamaParameters::attention_projection(Var x, Var w, Var residual) const {
  if (changes_.attention_projection) return changes_.attention_projection(x, w, residual);
  const Var y = linear(x, w);
  return residual ? add(residual, y) : y;
}

double LlamaParameters::deviation() const { return 0.5 / std::sqrt(static_cast<double>(width_)); }

Var losses_of(Var logits, Var targets, std::int64_t vocabulary, const ModelPart& part) {
  if (part.tensor_ranks == 1) return cross_entropy(logits, targets);
  return divided_cross_entropy(logits, targets, {part.tokens(vocabulary).first, vocabulary},
                               part.tensor_ranks);
}

AttentionShape heads_of(const AttentionShape& whole, const ModelPart& part) {
  const std::int64_t ranks = part.tensor_ranks;
  if (whole.kv_heads % ranks != 0)
    throw Error(ErrorKind::input,
                std::to_string(whole.kv_heads) + " key-value heads cannot be divided by tp " +
                    std::to_string(ranks),
                "use a tp that divides " + std::to_string(whole.kv_heads));
  AttentionShape own = whole;
  own.heads /= ranks;
  own.kv_heads /= ranks;
  own.shifted_kv_heads = std::clamp<std::int64_t>(
      whole.shifted_kv_heads - part.tensor_rank * own.kv_heads, 0, own.kv_heads);
  return own;
}

namespace {

/// With rotary positions; of the tokens that one rank has.
Var context_attention(Var qkv, Var angles, const AttentionShape& heads, const ContextPart& part) {
  if (part.is_whole()) return attention(rope(qkv, angles, heads), heads);
  AttentionShape of_rank = heads;
  of_rank.sequence = part.tokens(heads.sequence);
  return ring_attention(rope(qkv, angles, of_rank), heads, part);
}

}  // namespace

Var llama_attention(Var x, LlamaParameters& p, const AttentionShape& heads, const std::string& at,
                    Var angles) {
  const std::int64_t d = p.width(), kv = heads.kv_heads * heads.head_dim;
  const AttentionShape own = heads_of(heads, p.part());
  Var h = p.shared(rms_norm(x, p.gain(at + "norm1")));
  Var qkv = p.attention_projection(
      h, p.matrix_of_divided_columns(at + "wqkv", d, {heads.output_columns(), kv, kv}));
  Var a = context_attention(qkv, angles, own, p.part().context);
  Var wo = p.divided_matrix_into_residual(at + "wo", {heads.output_columns(), d});
  if (p.part().tensor_ranks == 1) return p.attention_projection(a, wo, x);
  return add(x, p.summed(p.attention_projection(a, wo)));
}

Var llama_feed_forward(Var h, LlamaParameters& p, const std::string& at, std::int64_t hidden) {
  const std::int64_t d = p.width();
  Var gated = swiglu(
      linear(p.shared(h), p.matrix_of_divided_columns(at + "w_gate_up", d, {hidden, hidden})));
  return p.summed(linear(gated, p.divided_matrix_into_residual(at + "w_down", {hidden, d})));
}

}  // namespace bench::training
