#include "tests/training/kernel_cases.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "tests/training/convolution_cases.h"
#include "tests/training/diffusion_cases.h"
#include "tests/training/hstu_cases.h"
#include "tests/training/neighbour_cases.h"
#include "tests/training/policy_cases.h"
#include "tests/training/recommender_cases.h"
#include "training/operators/linear.h"

namespace bench::training {
namespace {

using CaseList = std::vector<KernelCase>;

void add_products(CaseList& cases, Dtype dtype) {
  struct Sizes {
    std::int64_t m, n, k;
  };
  for (const Sizes s : {Sizes{64, 96, 80}, Sizes{256, 128, 512}})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const int kind : s.k > 100 ? std::vector{0, 3} : std::vector{0, 1, 2, 3})
          cases.push_back({"product " + std::to_string(s.m) + (ta ? " a turned" : "") +
                               (tb ? " b turned" : "") + " kind " + std::to_string(kind),
                           [=](const KernelSet& set, CaseTensors& tensors) {
                             const View a = tensors.values(ta ? s.k : s.m, ta ? s.m : s.k, dtype);
                             const View b = tensors.values(tb ? s.n : s.k, tb ? s.k : s.n, dtype);
                             const View c = tensors.values(s.m, s.n, dtype);
                             GemmOptions product{ta, tb, {}, {}};
                             if (kind == 1) product.addend = c;
                             if (kind == 2) product.addend = tensors.values(s.m, s.n, dtype, 9.0);
                             if (kind >= 2) product.bias = tensors.values(1, s.n, dtype, 9.0);
                             set.gemm->multiply(product, a, b, tensors.result(c));
                           }});
}

/// Fused if the device supports it.
void add_gelu_products(CaseList& cases, Dtype dtype) {
  for (const bool bias : {false, true})
    cases.push_back({std::string("product and GELU") + (bias ? " with a bias" : ""),
                     [=](const KernelSet& set, CaseTensors& tensors) {
                       const View a = tensors.values(64, 48, dtype, 0.3);
                       const View b = tensors.values(48, 96, dtype, 0.3);
                       GemmOptions product;
                       if (bias) product.bias = tensors.values(1, 96, dtype);
                       product.gelu = GeluStep::forward;
                       product.gelu_input = tensors.result(tensors.values(64, 96, dtype));
                       multiply_gelu(set, product, a, b,
                                     tensors.result(tensors.values(64, 96, dtype)));
                     }});
  cases.push_back({"product and GELU's slope", [=](const KernelSet& set, CaseTensors& tensors) {
                     const View a = tensors.values(64, 48, dtype);
                     const View b = tensors.values(96, 48, dtype);
                     GemmOptions product;
                     product.transpose_b = true;
                     product.gelu = GeluStep::backward;
                     product.gelu_input = tensors.values(64, 96, dtype, 2.0);
                     multiply_gelu(set, product, a, b,
                                   tensors.result(tensors.values(64, 96, dtype)));
                   }});
}

void add_norms(CaseList& cases, Dtype dtype, std::int64_t n) {
  constexpr std::int64_t kRows = 150;
  for (const bool centred : {false, true})
    for (const bool add : {false, true})
      cases.push_back({std::string(centred ? "layer" : "rms") + " norm of " + std::to_string(n) +
                           (add ? ", added" : ""),
                       [=](const KernelSet& set, CaseTensors& tensors) {
                         const View x = tensors.values(kRows, n, dtype, 3.0);
                         const View gain = tensors.values(1, n, dtype);
                         const View bias = tensors.values(1, n, dtype);
                         const View y = tensors.result(tensors.values(kRows, n, dtype));
                         const View statistics =
                             tensors.result(tensors.values(kRows, centred ? 2 : 1, Dtype::f32));
                         NormBackward back{};
                         back.x = x;
                         back.gain = gain;
                         back.statistics = statistics;
                         back.output_gradient = tensors.values(kRows, n, dtype);
                         back.input_gradient = tensors.result(tensors.values(kRows, n, dtype));
                         back.gain_gradient = tensors.result(tensors.values(1, n, dtype));
                         if (centred)
                           back.bias_gradient = tensors.result(tensors.values(1, n, dtype));
                         back.add_input = back.add_gain = back.add_bias = add;
                         if (centred) {
                           set.norm->layer_forward(x, gain, bias, 1e-5, y, statistics);
                           set.norm->layer_backward(back);
                         } else {
                           set.norm->rms_forward(x, gain, 1e-5, y, statistics);
                           set.norm->rms_backward(back);
                         }
                       }});
}

void add_attention(CaseList& cases, Dtype dtype) {
  for (const AttentionShape& shape :
       {AttentionShape{37, 4, 2, 24, true, 1}, AttentionShape{150, 2, 1, 64, true, 1},
        AttentionShape{97, 2, 2, 64, false, 0}, AttentionShape{70, 4, 2, 128, true, 1},
        AttentionShape{128, 2, 1, 64, true, 0}})  // one that cuDNN serves
    for (const bool add : {false, true})
      cases.push_back(
          {"attention of " + std::to_string(shape.head_dim) + " over " +
               std::to_string(shape.sequence) + (add ? ", added" : ""),
           [=](const KernelSet& set, CaseTensors& tensors) {
             const std::int64_t rows = 2 * shape.sequence, wide = shape.packed_columns();
             const View packed = tensors.values(rows, wide, dtype);
             const View angles = tensors.values(shape.sequence, shape.head_dim, Dtype::f32);
             const View turned = tensors.result(tensors.values(rows, wide, dtype));
             set.rope->rotate(shape, add, packed, angles, turned, add);
             const View output =
                 tensors.result(tensors.values(rows, shape.output_columns(), dtype));
             const View log_sum = tensors.result(tensors.values(rows, shape.heads, Dtype::f32));
             set.attention->forward(shape, packed, output, log_sum);
             AttentionBackward back{};
             back.packed = packed;
             back.output = output;
             back.output_gradient = tensors.values(rows, shape.output_columns(), dtype);
             back.log_sum = log_sum;
             back.workspace = tensors.values(rows, shape.heads, Dtype::f32);
             back.packed_gradient = tensors.result(tensors.values(rows, wide, dtype));
             back.add = add;
             set.attention->backward(shape, back);
           }});
}

void add_joined_attention(CaseList& cases, Dtype dtype) {
  cases.push_back({"joined attention", [=](const KernelSet& set, CaseTensors& tensors) {
                     const AttentionShape shape{37, 4, 2, 24, true, 0};
                     const std::int64_t rows = shape.sequence, wide = shape.output_columns();
                     const View output = tensors.result(tensors.values(rows, wide, dtype));
                     const View log_sum =
                         tensors.result(tensors.values(rows, shape.heads, Dtype::f32, 3.0));
                     set.attention->join(shape,
                                         {tensors.values(rows, wide, dtype),
                                          tensors.values(rows, shape.heads, Dtype::f32, 3.0)},
                                         {output, log_sum});
                   }});
}

void add_activations(CaseList& cases, Dtype dtype, std::int64_t n) {
  for (const bool add : {false, true})
    cases.push_back({"activations of " + std::to_string(n) + (add ? ", added" : ""),
                     [=](const KernelSet& set, CaseTensors& tensors) {
                       const View x = tensors.values(33, 2 * n, dtype, 3.0);
                       const View y = tensors.result(tensors.values(33, n, dtype));
                       const View dx = tensors.result(tensors.values(33, 2 * n, dtype));
                       set.activation->swiglu_forward(x, y);
                       set.activation->swiglu_backward(x, tensors.values(33, n, dtype), dx, add);
                       const View wide = tensors.result(tensors.values(33, 2 * n, dtype));
                       const View slope = tensors.result(tensors.values(33, 2 * n, dtype));
                       set.activation->gelu_forward(x, wide);
                       set.activation->gelu_backward(x, tensors.values(33, 2 * n, dtype), slope,
                                                     add);
                     }});
}

void add_sums(CaseList& cases, Dtype dtype, std::int64_t n) {
  cases.push_back(
      {"sums and copies of " + std::to_string(n), [=](const KernelSet& set, CaseTensors& tensors) {
         const View x = tensors.values(311, n, dtype), other = tensors.values(311, n, dtype);
         const View sum = tensors.result(tensors.values(311, n, dtype));
         const View copy = tensors.result(tensors.values(311, n, dtype));
         const View columns = tensors.result(tensors.values(1, n, dtype));
         set.elementwise->add(x, other, sum);
         set.elementwise->copy(x, copy, true);
         set.elementwise->column_sums(x, columns, true);
         tensors.number(set.optimizer->square_sum(x));
       }});
}

void add_tables(CaseList& cases, Dtype dtype, std::int64_t n) {
  for (const bool add : {false, true})
    cases.push_back({"tables of " + std::to_string(n) + (add ? ", added" : ""),
                     [=](const KernelSet& set, CaseTensors& tensors) {
                       constexpr std::int64_t kSequence = 40, kRows = 3 * kSequence;
                       const View ids = tensors.ids(kRows, 51);
                       const View y = tensors.result(tensors.values(kRows, n, dtype));
                       const View with = tensors.result(tensors.values(kRows, n, dtype));
                       set.embedding->forward(ids, tensors.values(51, n, dtype), y);
                       set.embedding->add_positions(y, tensors.values(kSequence, n, dtype),
                                                    kSequence, with);
                       const View slope = tensors.values(kRows, n, dtype);
                       const View table = tensors.result(tensors.values(51, n, dtype));
                       const View positions = tensors.result(tensors.values(kSequence, n, dtype));
                       set.embedding->backward(ids, slope, table, add);
                       set.embedding->positions_backward(slope, kSequence, positions, add);
                     }});
}

void add_losses(CaseList& cases, Dtype dtype, std::int64_t n) {
  for (const double scale : {0.0, 1.0 / 64})
    cases.push_back({"cross entropy of " + std::to_string(n) + (scale > 0 ? ", trained" : ""),
                     [=](const KernelSet& set, CaseTensors& tensors) {
                       const View logits = tensors.result(tensors.values(64, n, dtype, 4.0));
                       const View losses = tensors.result(tensors.values(64, 1, Dtype::f64));
                       const View sum = tensors.result(tensors.constant(1, 1, Dtype::f64, 3.0));
                       set.loss->cross_entropy(logits, tensors.ids(64, n), scale, losses);
                       set.loss->add_up(losses, sum, scale > 0);
                     }});
}

/// Of n tokens, divided over two ranks.
void add_vocabularies(CaseList& cases, Dtype dtype, std::int64_t n) {
  constexpr std::int64_t kRows = 64, kWidth = 96;
  for (const double scale : {0.0, 1.0 / kRows})
    cases.push_back(
        {"divided vocabulary of " + std::to_string(n) + (scale > 0 ? ", trained" : ""),
         [=](const KernelSet& set, CaseTensors& tensors) {
           const View tokens = tensors.ids(kRows, n);
           const View sums =
               tensors.result(tensors.values(2 * kRows, kLogitStatistics, accumulator_of(dtype)));
           View logits[2];
           const auto part_of = [=](int rank) { return VocabularyPart{rank * (n / 3), n}; };
           for (const int rank : {0, 1}) {
             const std::int64_t own = rank ? n - n / 3 : n / 3;
             logits[rank] = tensors.result(tensors.values(kRows, own, dtype, 4.0));
             set.vocabulary->summarize_logits(logits[rank], tokens, part_of(rank),
                                              rows_of(sums, rank * kRows, kRows));
             const View y = tensors.result(tensors.values(kRows, kWidth, dtype));
             set.vocabulary->look_up(tokens, part_of(rank), tensors.values(own, kWidth, dtype), y);
             set.vocabulary->look_up_backward(
                 tokens, part_of(rank), tensors.values(kRows, kWidth, dtype),
                 tensors.result(tensors.values(own, kWidth, dtype)), scale > 0);
           }
           for (const int rank : {0, 1})
             set.vocabulary->cross_entropy({logits[rank], tokens, part_of(rank), sums, scale,
                                            tensors.result(tensors.values(kRows, 1, Dtype::f64))});
         }});
}

void add_updates(CaseList& cases, Dtype dtype, std::int64_t count) {
  const auto parameters = [=](CaseTensors& tensors, auto& range) {
    range.parameters = tensors.result(tensors.values(1, count, dtype));
    range.gradients = tensors.values(1, count, dtype);
    if (is_narrow(dtype)) range.master = tensors.result(tensors.values(1, count, Dtype::f32));
    range.decay = 0.1;
    range.step = tensors.step({0.01, 0.5, 5.0, 10.0});
  };
  for (const bool start : {true, false})
    cases.push_back({"updates of " + std::to_string(count) + (start ? ", the first" : ""),
                     [=](const KernelSet& set, CaseTensors& tensors) {
                       AdamwRange adamw;
                       parameters(tensors, adamw);
                       adamw.first = tensors.result(tensors.values(1, count, Dtype::f32));
                       adamw.second = tensors.result(tensors.constant(1, count, Dtype::f32, 0.3));
                       adamw.start = start;
                       set.optimizer->adamw(adamw);
                       MomentumRange momentum;
                       parameters(tensors, momentum);
                       momentum.velocity = tensors.result(tensors.values(1, count, Dtype::f32));
                       momentum.start = start;
                       set.optimizer->momentum(momentum);
                     }});
}

double worst_of(const std::vector<double>& found, const std::vector<double>& right) {
  double squares = 0.0, worst = 0.0;
  for (const double value : right) squares += value * value;
  const double usual = std::sqrt(squares / static_cast<double>(right.size())) + 1e-30;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double difference = std::abs(found[i] - right[i]) / std::max(std::abs(right[i]), usual);
    if (!(difference <= worst)) worst = difference;
  }
  return std::isfinite(worst) ? worst : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<KernelCase> kernel_cases(Dtype dtype) {
  CaseList cases;
  add_products(cases, dtype);
  for (const std::int64_t n : {50, 768, 2048}) add_norms(cases, dtype, n);
  add_gelu_products(cases, dtype);
  add_attention(cases, dtype);
  add_joined_attention(cases, dtype);
  for (const std::int64_t n : {13, 256}) {
    add_activations(cases, dtype, n);
    add_sums(cases, dtype, n);
    add_tables(cases, dtype, n);
  }
  for (const std::int64_t n : {91, 5000}) {
    add_losses(cases, dtype, n);
    add_vocabularies(cases, dtype, n);
    add_updates(cases, dtype, n);
  }
  std::ranges::move(diffusion_cases(dtype), std::back_inserter(cases));
  std::ranges::move(policy_cases(dtype), std::back_inserter(cases));
  std::ranges::move(convolution_cases(dtype), std::back_inserter(cases));
  std::ranges::move(hstu_cases(dtype), std::back_inserter(cases));
  std::ranges::move(neighbour_cases(dtype), std::back_inserter(cases));
  if (dtype == Dtype::f32) std::ranges::move(recommender_cases(), std::back_inserter(cases));
  return cases;
}

KernelDifference compare_kernels(const KernelCase& one, const KernelSet& tested,
                                 const KernelSet& host) {
  CaseTensors there(tested.memory), here(host.memory);
  one.run(tested, there);
  one.run(host, here);
  std::vector<std::vector<double>> found = there.read();
  const std::vector<std::vector<double>> right = here.read();
  KernelDifference worst;
  for (std::size_t tensor = 0; tensor < right.size(); ++tensor)
    worst.found = std::max(worst.found, worst_of(found[tensor], right[tensor]));
  double& value = found.back()[found.back().size() / 2];
  value += 1.0 + std::abs(value);
  worst.damaged = std::max(worst.found, worst_of(found.back(), right.back()));
  return worst;
}

double kernel_tolerance(Dtype dtype) {
  if (dtype == Dtype::f16) return 0.03 / 8;  // three bits more
  return dtype == Dtype::bf16 ? 0.03 : 2e-4;
}

}  // namespace bench::training
