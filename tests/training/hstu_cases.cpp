#include "tests/training/hstu_cases.h"

#include <string>

namespace bench::training {
namespace {

constexpr std::int64_t kHistories = 3;

/// Values that a kernel writes, or adds to.
View hstu_result(CaseTensors& tensors, std::int64_t rows, std::int64_t columns, Dtype dtype) {
  return tensors.result(tensors.values(rows, columns, dtype));
}

HstuInputs hstu_inputs(CaseTensors& tensors, const HstuAttentionShape& shape, Dtype dtype) {
  const std::int64_t sequence = shape.sequence, rows = kHistories * sequence;
  HstuInputs in;
  in.packed = tensors.values(rows, shape.packed_columns(), dtype);
  // A full history, an empty one, and one between.
  in.lengths = tensors.made(kHistories, 1, Dtype::int32, [sequence](std::uint64_t i) {
    return static_cast<double>(i == 0 ? sequence : i == 1 ? 0 : sequence * 2 / 3);
  });
  in.times = tensors.made(rows, 1, Dtype::int32, [sequence](std::uint64_t i) {
    const std::uint64_t event = i % static_cast<std::uint64_t>(sequence);
    return static_cast<double>(event * event + event / 7 * 50);
  });
  in.position_bias = tensors.values(shape.heads, sequence, dtype);
  in.time_bias = tensors.values(shape.heads, shape.buckets, dtype);
  return in;
}

KernelCase pointwise_attention(Dtype dtype, const HstuAttentionShape& shape, bool add) {
  return {"pointwise attention of " + std::to_string(shape.sequence) + " events, heads of " +
              std::to_string(shape.head_dim) + (add ? ", added" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            HstuBackward back;
            back.in = hstu_inputs(tensors, shape, dtype);
            const std::int64_t rows = kHistories * shape.sequence;
            set.hstu->attention(shape, back.in, hstu_result(tensors, rows, shape.width(), dtype));
            back.output_gradient = tensors.values(rows, shape.width(), dtype);
            back.packed_gradient = hstu_result(tensors, rows, shape.packed_columns(), dtype);
            back.position_gradient = hstu_result(tensors, shape.heads, shape.sequence, dtype);
            back.time_gradient = hstu_result(tensors, shape.heads, shape.buckets, dtype);
            back.add_packed = back.add_position = back.add_time = add;
            set.hstu->attention_backward(shape, back);
          }};
}

KernelCase gates_of_heads(Dtype dtype, std::int64_t n, bool add) {
  return {"SiLU and gates of " + std::to_string(n) + (add ? ", added" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const View x = tensors.values(5, n, dtype), packed = tensors.values(5, 4 * n, dtype);
            set.hstu->silu(packed, hstu_result(tensors, 5, 4 * n, dtype));
            set.hstu->silu_backward(packed, tensors.values(5, 4 * n, dtype),
                                    hstu_result(tensors, 5, 4 * n, dtype), add);
            set.hstu->gate(x, packed, hstu_result(tensors, 5, n, dtype));
            HstuGateBackward back;
            back.x = x;
            back.packed = packed;
            back.y_gradient = tensors.values(5, n, dtype);
            back.x_gradient = hstu_result(tensors, 5, n, dtype);
            back.packed_gradient = hstu_result(tensors, 5, 4 * n, dtype);
            back.add_x = back.add_packed = add;
            set.hstu->gate_backward(back);
          }};
}

KernelCase losses_of_events(Dtype dtype, double scale) {
  return {std::string("losses of events") + (scale > 0 ? ", trained" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const View logits = tensors.result(tensors.values(30, 1, dtype, 5.0));
            const View labels = tensors.made(30, 1, Dtype::int32, [](std::uint64_t i) {
              return static_cast<double>(i % 3) - 1.0;
            });
            set.hstu->event_losses(logits, labels, scale, hstu_result(tensors, 30, 1, Dtype::f64));
          }};
}

}  // namespace

std::vector<KernelCase> hstu_cases(Dtype dtype) {
  std::vector<KernelCase> cases;
  for (const bool add : {false, true}) {
    cases.push_back(pointwise_attention(dtype, {21, 2, 16, 9}, add));
    cases.push_back(pointwise_attention(dtype, {70, 1, 7, 4}, add));
    for (const std::int64_t n : {7, 32}) cases.push_back(gates_of_heads(dtype, n, add));
  }
  for (const double scale : {0.0, 1.0 / 64}) cases.push_back(losses_of_events(dtype, scale));
  return cases;
}

}  // namespace bench::training
