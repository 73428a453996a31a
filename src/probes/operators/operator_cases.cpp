#include "probes/operators/operator_cases.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "probes/operators/measured_operators.h"
#include "training/operators/classifier.h"
#include "training/operators/convolution.h"
#include "training/operators/linear.h"
#include "training/operators/recommender.h"
#include "training/operators/transformer.h"

namespace bench {
namespace {

using training::AttentionShape;
using training::Map;
using training::Var;

double elements(Var x) { return static_cast<double>(x.shape().elements()); }

/// FLOPs for each element of the output.
void count(BuiltOperator& op, double forward, double backward) {
  op.forward_flops = forward * elements(op.output);
  op.backward_flops = backward * elements(op.output);
}

// Transformers.

void build_gemm(OperatorInputs& in, BuiltOperator& op, std::int64_t rows, std::int64_t from,
                std::int64_t to, bool residual) {
  const Var x = in.activation("x", {rows, from});
  training::LinearOptions options;
  if (residual) options.residual = in.activation("residual", {rows, to});
  op.passes_gradient = residual;
  op.output = linear(x, in.matrix("w", {from, to}), options);
  op.shape = {{"m", rows}, {"n", to}, {"k", from}};
}

std::string linear_qkv(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  build_gemm(in, op, s.tokens, s.channels, 3 * s.channels, false);
  return "";
}

std::string linear_out(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  build_gemm(in, op, s.tokens, s.channels, s.channels, true);
  return "";
}

std::string linear_up(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  build_gemm(in, op, s.tokens, s.channels, s.hidden, false);
  return "";
}

std::string linear_down(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  build_gemm(in, op, s.tokens, s.hidden, s.channels, true);
  return "";
}

std::string linear_head(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  build_gemm(in, op, s.tokens, s.channels, s.vocabulary, false);
  return "";
}

std::string attention_shape(const OperatorSizes& s, AttentionShape& shape) {
  if (s.channels % s.head_dim != 0)
    return "channels " + std::to_string(s.channels) + " is not a multiple of head_dim " +
           std::to_string(s.head_dim);
  if (s.tokens % s.sequence != 0)
    return "tokens " + std::to_string(s.tokens) + " is not a multiple of sequence " +
           std::to_string(s.sequence);
  shape.sequence = s.sequence;
  shape.heads = shape.kv_heads = s.channels / s.head_dim;
  shape.head_dim = s.head_dim;
  return "";
}

Json shape_of(const AttentionShape& shape, std::int64_t rows) {
  return {{"rows", rows},
          {"sequence", shape.sequence},
          {"heads", shape.heads},
          {"head_dim", shape.head_dim}};
}

std::string flash_attention(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  AttentionShape shape;
  if (const std::string why = attention_shape(s, shape); !why.empty()) return why;
  op.output = attention(in.activation("packed", {s.tokens, shape.packed_columns()}), shape);
  op.shape = shape_of(shape, s.tokens);
  return "";
}

std::string standard_attention(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  AttentionShape shape;
  if (const std::string why = attention_shape(s, shape); !why.empty()) return why;
  op.output = attention_with_scores(in.state("packed", {s.tokens, shape.packed_columns()}), shape);
  op.shape = shape_of(shape, s.tokens);
  return "";
}

std::string rotary(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  AttentionShape shape;
  if (const std::string why = attention_shape(s, shape); !why.empty()) return why;
  if (s.head_dim % 2 != 0)
    return "head_dim " + std::to_string(s.head_dim) + " is odd: rope needs an even one";
  const Var angles = rope_angles(in.graph(), shape, 1e4);
  op.output = rope(in.activation("packed", {s.tokens, shape.packed_columns()}), angles, shape);
  op.shape = shape_of(shape, s.tokens);
  count(op, 3.0 * 2 / 3, 3.0 * 2 / 3);  // q and k; v stays as it is
  op.forward_bytes = op.backward_bytes = (2.0 * 2 / 3 * elements(op.output) + elements(angles)) *
                                         static_cast<double>(size_of(in.compute()));
  return "";
}

/// [tokens, channels]
void describe_rows(BuiltOperator& op) {
  op.shape = {{"rows", op.output.shape().rows()}, {"channels", op.output.shape().columns()}};
}

std::string rms_normalization(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  op.output = rms_norm(in.activation("x", {s.tokens, s.channels}), in.gain("gain", s.channels));
  describe_rows(op);
  count(op, 4, 9);
  return "";
}

std::string layer_normalization(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  op.output = layer_norm(in.activation("x", {s.tokens, s.channels}), in.gain("gain", s.channels),
                         in.gain("bias", s.channels));
  describe_rows(op);
  count(op, 8, 13);
  return "";
}

std::string swiglu_activation(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  op.output = swiglu(in.activation("x", {s.tokens, 2 * s.hidden}));
  describe_rows(op);
  count(op, 5, 11);
  return "";
}

std::string gelu_activation(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  op.output = gelu(in.activation("x", {s.tokens, s.hidden}));
  op.rewrites_gradient = true;
  describe_rows(op);
  count(op, 8, 14);
  return "";
}

std::string residual_add(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  op.output =
      add(in.activation("a", {s.tokens, s.channels}), in.activation("b", {s.tokens, s.channels}));
  describe_rows(op);
  op.passes_gradient = true;
  count(op, 1, 0);
  return "";
}

std::string token_embedding(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  const Var ids = in.ids("ids", {s.tokens, 1}, s.vocabulary);
  op.output = embedding(ids, in.matrix("table", {s.vocabulary, s.channels}));
  op.shape = {{"rows", s.tokens}, {"channels", s.channels}, {"table_rows", s.vocabulary}};
  op.forward_bytes = 2.0 * elements(op.output) * static_cast<double>(size_of(in.compute())) +
                     4.0 * static_cast<double>(s.tokens);
  op.forward_working_set = op.forward_bytes;
  count(op, 0, 1);
  return "";
}

std::string softmax_loss(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  const Var logits = in.activation("logits", {s.tokens, s.vocabulary});
  op.output = cross_entropy(logits, in.ids("targets", {s.tokens, 1}, s.vocabulary));
  op.shape = {{"rows", s.tokens}, {"classes", s.vocabulary}};
  op.forward_flops = 4.0 * elements(logits);
  op.forward_bytes = 2.0 * elements(logits) * static_cast<double>(size_of(in.compute())) +
                     12.0 * static_cast<double>(s.tokens);  // the gradient replaces the logits
  op.changed = {logits};
  return "";
}

// Convolutional blocks.

Map pixels(OperatorInputs& in, const OperatorSizes& s, const std::string& name) {
  return {in.activation(name, {s.images * s.side * s.side, s.maps}), s.side, s.side};
}

Json shape_of(const OperatorSizes& s) {
  return {{"images", s.images}, {"side", s.side}, {"maps", s.maps}};
}

template <std::int64_t kernel>
std::string convolve(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  training::ConvolutionOptions options;
  options.kernel = kernel;
  options.padding = kernel / 2;
  const Var w = in.matrix("w", {kernel * kernel * s.maps, s.maps});
  op.output = convolution(pixels(in, s, "x"), w, options).values;
  op.shape = shape_of(s);
  op.shape["kernel"] = kernel;
  return "";
}

std::string group_normalization(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  constexpr std::int64_t kGroups = 8;
  if (s.maps % kGroups != 0)
    return "maps " + std::to_string(s.maps) + " is not a multiple of 8 groups";
  const Map x = pixels(in, s, "x");
  op.rewrites_gradient = true;
  op.output = group_norm(x, in.gain("gain", s.maps), in.gain("bias", s.maps), kGroups, true).values;
  op.shape = shape_of(s);
  count(op, 9, 14);
  return "";
}

std::string pool(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  op.output = max_pool(pixels(in, s, "x"), 2, 2, 0).values;
  op.shape = shape_of(s);
  op.shape["kernel"] = 2;
  return "";
}

std::string block_end(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  op.rewrites_gradient = true;
  op.output = add_relu(pixels(in, s, "a").values, pixels(in, s, "b").values);
  op.shape = shape_of(s);
  count(op, 1, 0);
  return "";
}

// Recommenders: 26 tables of 64 columns, as in Criteo's logs.

constexpr std::int64_t kTables = 26, kTableColumns = 64;

std::string bag(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  const Var ids = in.ids("ids", {s.tokens, s.lookups}, s.table_rows);
  op.output = embedding_bag(ids, in.matrix("table", {s.table_rows, kTableColumns}, false));
  op.shape = {{"rows", s.tokens},
              {"channels", kTableColumns},
              {"lookups", s.lookups},
              {"table_rows", s.table_rows}};
  const double read = elements(op.output) * static_cast<double>(s.lookups);
  op.forward_bytes = (read + elements(op.output)) * static_cast<double>(size_of(in.compute())) +
                     4.0 * elements(ids);
  op.forward_working_set = op.forward_bytes;
  op.forward_flops = read;
  return "";
}

std::string interaction(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  op.output = dot_interaction(in.activation("first", {s.tokens, kTableColumns}),
                              in.activation("rest", {s.tokens, kTables * kTableColumns}));
  op.shape = {{"rows", s.tokens}, {"features", kTables + 1}, {"channels", kTableColumns}};
  return "";
}

std::string cross_layer(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  const training::Shape shape{s.tokens, (kTables + 1) * kTableColumns};
  const Var x0 = in.activation("x0", shape), u = in.activation("u", shape),
            x = in.activation("x", shape);
  op.output = cross(x0, u, x);
  op.passes_gradient = true;
  describe_rows(op);
  count(op, 2, 2);
  return "";
}

// Updates.

template <Var (*update)(const AdamwVars&)>
std::string adamw_of(OperatorInputs& in, const OperatorSizes& s, BuiltOperator& op) {
  const std::int64_t parameters = 4 * s.channels * s.channels;
  const training::Shape row{1, parameters};
  AdamwVars vars{copy_of(in.state("parameters", row)), in.state("gradients", row),
                 in.state("first", row), in.state("second", row, InputFill::Kind::positive)};
  if constexpr (update == adamw_update) vars.numbers = in.numbers("numbers", adamw_numbers());
  op.output = update(vars);
  op.shape = {{"parameters", parameters}};
  op.forward_flops = kAdamwFlops * static_cast<double>(parameters);
  // Parameters and both moments are read and written, the gradient is read.
  op.forward_bytes = 7.0 * static_cast<double>(size_of(in.compute()) * parameters);
  op.changed = {vars.first, vars.second};
  return "";
}

}  // namespace

const std::vector<OperatorCase>& operator_cases() {
  static const std::vector<OperatorCase> cases{
      {"linear_qkv", false, false, linear_qkv},
      {"linear_out", false, false, linear_out},
      {"linear_up", false, false, linear_up},
      {"linear_down", false, false, linear_down},
      {"linear_head", false, false, linear_head},
      {"attention", false, false, flash_attention},
      {"attention_with_scores", true, true, standard_attention},
      {"rope", false, false, rotary},
      {"rms_norm", false, false, rms_normalization},
      {"layer_norm", false, false, layer_normalization},
      {"swiglu", false, false, swiglu_activation},
      {"gelu", false, false, gelu_activation},
      {"add", false, false, residual_add},
      {"embedding", false, false, token_embedding},
      {"cross_entropy", false, false, softmax_loss},
      {"convolution_3x3", false, false, convolve<3>},
      {"convolution_1x1", false, false, convolve<1>},
      {"group_norm", false, false, group_normalization},
      {"max_pool", false, false, pool},
      {"add_relu", false, false, block_end},
      {"embedding_bag", true, true, bag},
      {"dot_interaction", false, true, interaction},
      {"cross", false, true, cross_layer},
      {"adamw", false, true, adamw_of<adamw_update>},
      {"adamw_in_passes", true, true, adamw_of<adamw_in_passes>}};
  return cases;
}

const OperatorCase& operator_case(std::string_view name) {
  const auto found = std::ranges::find(operator_cases(), name, &OperatorCase::name);
  if (found == operator_cases().end())
    throw Error(ErrorKind::input, "unknown operator '" + std::string(name) + "'",
                "see benchctl list probes operators");
  return *found;
}

}  // namespace bench
