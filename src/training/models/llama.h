// The parts of the Llama block (RMSNorm, RoPE, GQA, SwiGLU) that the language models share, and
// their parameters with initial values.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "training/engine/graph.h"
#include "training/engine/model_part.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

/// How a model that adapts another one changes its parts; by default nothing changes.
struct LlmChanges {
  /// The options of a parameter, from its name and its options in pretraining.
  std::function<ParameterOptions(const std::string& name, const ParameterOptions&)> parameter = {};
  /// x w (+ residual) for the projections into and out of the Llama block's attention; residual is
  /// absent for the first.
  std::function<Var(Var x, Var w, Var residual)> attention_projection = {};
};

/// Parameters by name, of a model with a residual stream `width` wide and so many layers, or those
/// of one part of it. What is said to be divided is so by the tensor ranks of the part, unless
/// stated otherwise; every other parameter is whole on each of them.
class LlamaParameters {
 public:
  LlamaParameters(Graph& graph, std::int64_t width, std::int64_t layers,
                  const LlmChanges& changes = {}, const ModelPart& part = {})
      : graph_(graph), width_(width), layers_(layers), changes_(changes), part_(part) {}

  std::int64_t width() const { return width_; }
  const ModelPart& part() const { return part_; }
  Var parameter(const std::string& name, const Shape& shape, const ParameterOptions& options);
  Var matrix(const std::string& name, const Shape& shape);
  /// For a GEMM added to the residual stream: smaller, so that the stream does not grow with depth.
  Var matrix_into_residual(const std::string& name, const Shape& shape);
  /// [rows, sum of blocks], of which every block of columns is divided.
  Var matrix_of_divided_columns(const std::string& name, std::int64_t rows,
                                const std::vector<std::int64_t>& blocks);
  /// matrix_into_residual(), of which the rows are divided.
  Var divided_matrix_into_residual(const std::string& name, const Shape& whole);
  /// A matrix of each expert, of which the expert ranks of the part have equally many each; with
  /// the initial values of matrix() or matrix_into_residual().
  struct ExpertsShape {
    std::int64_t experts = 0, rows = 0, columns = 0;
  };
  Var experts_matrix(const std::string& name, const ExpertsShape& whole, bool into_residual);
  /// x as an operand of divided columns, and the whole of a GEMM by divided rows.
  Var shared(Var x) const;
  Var summed(Var x) const;
  Var gain(const std::string& name);
  /// The embeddings of `tokens`, with the rows that the residual stream has.
  Var embedded(Var tokens, Var table, std::int64_t vocabulary) const;
  Var embedding_table(const std::string& name, std::int64_t vocabulary, const Initial& initial);
  /// [width, vocabulary], of which the columns are divided. Starts at zero: the first loss is
  /// log(vocabulary), and the first steps are stable.
  Var head(const std::string& name, std::int64_t vocabulary);
  Var attention_projection(Var x, Var w, Var residual = {}) const;
  double deviation() const;  // of a matrix

 private:
  bool divides() const { return part_.tensor_ranks > 1; }
  bool divides_rows() const { return divides() && part_.sequence_parallel; }
  double deviation_into_residual() const;

  Graph& graph_;
  std::int64_t width_, layers_;
  LlmChanges changes_;
  ModelPart part_;
};

/// cross_entropy() of the columns of logits that LlamaParameters::head() gives a part.
Var losses_of(Var logits, Var targets, std::int64_t vocabulary, const ModelPart& part);

/// The heads of one tensor rank. Throws Error(input) if the ranks cannot have equally many.
AttentionShape heads_of(const AttentionShape& whole, const ModelPart& part);

/// x + attention of its norm; parameters AT norm1, wqkv, wo. `heads` are those of the whole model.
Var llama_attention(Var x, LlamaParameters& p, const AttentionShape& heads, const std::string& at,
                    Var angles);
/// The SwiGLU network of h, whose input is normalized already; parameters AT w_gate_up, w_down.
Var llama_feed_forward(Var h, LlamaParameters& p, const std::string& at, std::int64_t hidden);

}  // namespace bench::training
