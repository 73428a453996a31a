#include "tests/training/interpreted_attention.h"

#include "tests/training/case_tensors.h"
#include "tests/training/graph_interpreter.h"

namespace bench::cudnn {

using training::AttentionBackward;
using training::AttentionShape;
using training::View;

void InterpretedAttention::run(OperationGraph graph,
                               const std::map<std::int64_t, void*>& pointers) {
  ++calls_;
  if (damage_) damage_(graph);
  interpret(graph, pointers);
}

void InterpretedAttention::forward(const AttentionShape& shape, View packed, View output,
                                   View log_sum) {
  const AttentionProblem problem{shape, packed.rows / shape.sequence, packed.dtype};
  auto* rows = packed.as<std::uint16_t>();
  run(attention_forward_graph(problem),
      {{kQuery, rows},
       {kKey, rows + shape.heads * shape.head_dim},
       {kValue, rows + (shape.heads + shape.kv_heads) * shape.head_dim},
       {kOutput, output.data},
       {kLogSum, log_sum.data}});
}

void InterpretedAttention::backward(const AttentionShape& shape, const AttentionBackward& what) {
  const AttentionProblem problem{shape, what.packed.rows / shape.sequence, what.packed.dtype};
  auto* rows = what.packed.as<std::uint16_t>();
  auto* gradients = what.packed_gradient.as<std::uint16_t>();
  const std::int64_t key = shape.heads * shape.head_dim;
  const std::int64_t value = key + shape.kv_heads * shape.head_dim;
  std::vector<float> sums(static_cast<std::size_t>(what.output.elements()));
  run(attention_backward_graph(problem), {{kQuery, rows},
                                          {kKey, rows + key},
                                          {kValue, rows + value},
                                          {kOutput, what.output.data},
                                          {kLogSum, what.log_sum.data},
                                          {kOutputGradient, what.output_gradient.data},
                                          {kQueryGradient, gradients},
                                          {kKeyGradient, gradients + key},
                                          {kValueGradient, gradients + value},
                                          {kRowSums, what.workspace.data},
                                          {kQuerySums, sums.data()}});
}

std::vector<std::vector<double>> attention_results(training::AttentionKernels& kernels,
                                                   const AttentionShape& shape,
                                                   std::int64_t sequences, bool add, double upper) {
  training::CaseTensors tensors(training::host_memory());
  const std::int64_t rows = sequences * shape.sequence, wide = shape.packed_columns();
  const View packed = tensors.values(rows, wide, Dtype::bf16);
  const View output = tensors.result(tensors.values(rows, shape.output_columns(), Dtype::bf16));
  const View log_sum = tensors.result(tensors.values(rows, shape.heads, Dtype::f32));
  kernels.forward(shape, packed, output, log_sum);
  AttentionBackward back{};
  back.packed = packed;
  back.output = output;
  back.output_gradient = tensors.values(rows, shape.output_columns(), Dtype::bf16, upper);
  back.log_sum = log_sum;
  back.workspace = tensors.values(rows, shape.heads, Dtype::f32);
  back.packed_gradient = tensors.result(tensors.values(rows, wide, Dtype::bf16));
  back.add = add;
  kernels.backward(shape, back);
  return tensors.read();
}

}  // namespace bench::cudnn
