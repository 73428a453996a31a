#include "training/models/llama.h"

#include <cmath>

#include "training/operators/linear.h"
#include "training/operators/transformer.h"

namespace bench::training {

Var LlamaParameters::parameter(const std::string& name, const Shape& shape,
                               const ParameterOptions& options) {
  return graph_.parameter(name, shape,
                          changes_.parameter ? changes_.parameter(name, options) : options);
}

Var LlamaParameters::matrix(const std::string& name, const Shape& shape) {
  return parameter(name, shape, {Initial::normal(deviation())});
}

Var LlamaParameters::matrix_into_residual(const std::string& name, const Shape& shape) {
  const double depth = std::sqrt(2.0 * static_cast<double>(layers_));
  return parameter(name, shape, {Initial::normal(deviation() / depth)});
}

Var LlamaParameters::gain(const std::string& name) {
  return parameter(name, {1, width_}, {Initial::constant(1.0), false});
}

Var LlamaParameters::head(const std::string& name, std::int64_t vocabulary) {
  return parameter(name, {width_, vocabulary}, {Initial::constant(0.0)});
}

Var LlamaParameters::attention_projection(Var x, Var w, Var residual) const {
  if (changes_.attention_projection) return changes_.attention_projection(x, w, residual);
  const Var y = linear(x, w);
  return residual ? add(residual, y) : y;
}

double LlamaParameters::deviation() const { return 0.5 / std::sqrt(static_cast<double>(width_)); }

Var llama_attention(Var x, LlamaParameters& p, const AttentionShape& heads, const std::string& at,
                    Var angles) {
  const std::int64_t d = p.width();
  Var h = rms_norm(x, p.gain(at + "norm1"));
  Var qkv = p.attention_projection(h, p.matrix(at + "wqkv", {d, heads.packed_columns()}));
  Var a = attention(rope(qkv, angles, heads), heads);
  return p.attention_projection(a, p.matrix_into_residual(at + "wo", {heads.output_columns(), d}),
                                x);
}

Var llama_feed_forward(Var h, LlamaParameters& p, const std::string& at, std::int64_t hidden) {
  const std::int64_t d = p.width();
  Var gated = swiglu(linear(h, p.matrix(at + "w_gate_up", {d, 2 * hidden})));
  return linear(gated, p.matrix_into_residual(at + "w_down", {hidden, d}));
}

}  // namespace bench::training
