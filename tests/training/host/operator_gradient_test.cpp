// Every operator's backward pass against finite differences in f64, with every set of kernels that
// this CPU has. Tolerance 1e-6: the differences themselves are good to about 1e-9.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/gradient_check.h"
#include "training/host/host_kernels.h"
#include "training/operators/classifier.h"
#include "training/operators/convolution.h"
#include "training/operators/detection.h"
#include "training/operators/diffusion.h"
#include "training/operators/hstu.h"
#include "training/operators/linear.h"
#include "training/operators/neighbours.h"
#include "training/operators/recommender.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

constexpr double kGradientTolerance = 1e-6;
constexpr std::int64_t kCheckedRows = 22;  // no multiple of any block

void check_operator(const std::function<Var(Graph&)>& make_logits) {
  Graph graph(Dtype::f64);
  const Var logits = make_logits(graph);
  const Var targets = graph.input("targets", {logits.shape().rows(), 1}, Dtype::int32);
  const Var losses = cross_entropy(logits, targets);
  const auto fill = [&](const Lane& lane) {
    fill_ids(lane.view(targets), static_cast<int>(logits.shape().columns()), 5);
    lane.view(targets).as<std::int32_t>()[1] = -1;  // left out
  };
  for (const std::string_view isa : host_kernel_isas()) {
    const GradientError error =
        check_gradients(graph, losses, fill, [&](Dtype dtype) { return host_kernels(dtype, isa); });
    INFO(isa << ": worst at " << error.parameter);
    CHECK(error.worst < kGradientTolerance);
  }
}

Var checked_parameter(Graph& graph, const char* name, std::int64_t rows, std::int64_t columns) {
  return graph.parameter(name, {rows, columns}, {Initial::normal(0.7)});
}

AttentionShape grouped_heads(std::int64_t sequence, std::int64_t dim) {
  AttentionShape shape{sequence, 4, 2, dim};
  shape.shifted_kv_heads = 1;
  return shape;
}

}  // namespace

TEST_CASE("the gradient of linear is correct with bias, residual and transposed weights") {
  check_operator([](Graph& g) {
    return linear(checked_parameter(g, "x", kCheckedRows, 9), checked_parameter(g, "w", 9, 37));
  });
  check_operator([](Graph& g) {
    const Var x = checked_parameter(g, "x", kCheckedRows, 9);
    return linear(x, checked_parameter(g, "w", 9, 9), {checked_parameter(g, "b", 1, 9), x});
  });
  check_operator([](Graph& g) {
    LinearOptions options;
    options.transposed = true;
    return linear(checked_parameter(g, "x", kCheckedRows, 9), checked_parameter(g, "w", 21, 9),
                  options);
  });
}

TEST_CASE("the gradient of a GEMM longer than a cache block is correct") {
  check_operator([](Graph& g) {
    const Var h =
        linear(checked_parameter(g, "x", kCheckedRows, 3), checked_parameter(g, "w", 3, 530));
    return linear(h, checked_parameter(g, "v", 530, 70));
  });
}

TEST_CASE("the gradient of add is correct, also for a tensor added to itself") {
  check_operator([](Graph& g) {
    const Var x =
        linear(checked_parameter(g, "x", kCheckedRows, 5), checked_parameter(g, "w", 5, 6));
    const Var twice = add(x, x);
    return add(add(twice, gelu(twice)), x);
  });
}

TEST_CASE("the gradients of the norms are correct") {
  check_operator([](Graph& g) {
    return rms_norm(checked_parameter(g, "x", kCheckedRows, 19),
                    checked_parameter(g, "gain", 1, 19));
  });
  check_operator([](Graph& g) {
    return layer_norm(checked_parameter(g, "x", kCheckedRows, 19),
                      checked_parameter(g, "gain", 1, 19), checked_parameter(g, "bias", 1, 19));
  });
}

TEST_CASE("the gradients of the activations are correct") {
  check_operator([](Graph& g) { return swiglu(checked_parameter(g, "x", kCheckedRows, 2 * 13)); });
  check_operator([](Graph& g) { return gelu(checked_parameter(g, "x", kCheckedRows, 13)); });
}

TEST_CASE("the gradient of an embedding with positions is correct") {
  Graph g(Dtype::f64);
  const Var ids = g.input("ids", {kCheckedRows, 1}, Dtype::int32);
  LinearOptions tied;
  tied.transposed = true;
  const Var x = add_positions(embedding(ids, checked_parameter(g, "table", 9, 9)),
                              checked_parameter(g, "positions", 11, 9));
  const Var losses = cross_entropy(linear(x, checked_parameter(g, "head", 9, 9), tied), ids);
  const auto fill = [&](const Lane& lane) { fill_ids(lane.view(ids), 9, 2); };
  for (const std::string_view isa : host_kernel_isas()) {
    const auto kernels = [&](Dtype dtype) { return host_kernels(dtype, isa); };
    CHECK(check_gradients(g, losses, fill, kernels).worst < kGradientTolerance);
  }
}

TEST_CASE("the gradient of rope is correct, in place and not") {
  for (const std::int64_t dim : {6, 16})
    check_operator([dim](Graph& g) {
      const AttentionShape shape = grouped_heads(11, dim);
      const Var x = linear(checked_parameter(g, "x", kCheckedRows, 3),
                           checked_parameter(g, "w", 3, shape.packed_columns()));
      const Var angles = rope_angles(g, shape, 100.0);
      return rope(add(rope(x, angles, shape), x), angles, shape);
    });
}

TEST_CASE("the gradient of attention is correct: grouped, shifted, causal or full, any length") {
  for (const std::int64_t sequence : {11, 70, 130})
    for (const bool causal : {true, false})
      check_operator([=](Graph& g) {
        AttentionShape shape = grouped_heads(sequence, 6);
        shape.causal = causal;
        const Var y =
            attention(checked_parameter(g, "x", 2 * sequence, shape.packed_columns()), shape);
        return linear(y, checked_parameter(g, "w", shape.output_columns(), 7));
      });
}

TEST_CASE("the gradient of relu is correct, in place and not") {
  check_operator([](Graph& g) {
    const Var x =
        linear(checked_parameter(g, "x", kCheckedRows, 5), checked_parameter(g, "w", 5, 21));
    const Var y = relu(add(relu(x), x));
    return linear(y, checked_parameter(g, "v", 21, 4));
  });
}

TEST_CASE("the gradient of concatenated columns is correct, also for a tensor with itself") {
  check_operator([](Graph& g) {
    const Var x = checked_parameter(g, "x", kCheckedRows, 5);
    const Var y = gelu(checked_parameter(g, "y", kCheckedRows, 18));
    return concat_columns(concat_columns(x, y), x);
  });
}

TEST_CASE("the gradient of parts of a tensor's columns is correct, also where they overlap") {
  check_operator([](Graph& g) {
    const Var x = gelu(checked_parameter(g, "x", kCheckedRows, 21));
    const Var parts = concat_columns(columns_of(x, 0, 9), columns_of(x, 9, 12));
    return concat_columns(parts, concat_columns(columns_of(x, 4, 7), columns_of(x, 20, 1)));
  });
}

TEST_CASE("the gradient of the products of all rows is correct, also of a tensor with itself") {
  check_operator([](Graph& g) {
    const Var u = checked_parameter(g, "u", kCheckedRows, 7);
    const Var v = gelu(checked_parameter(g, "v", kCheckedRows, 7));
    std::vector<double> bias;
    for (std::int64_t i = 0; i < kCheckedRows; ++i) bias.push_back(0.1 * static_cast<double>(i));
    const Var b = g.constant("bias", {kCheckedRows, 1}, bias);
    return add(row_products(u, v, b), row_products(v, v, b));
  });
}

TEST_CASE("the gradient of cross layers is correct, also for the first with equal inputs") {
  check_operator([](Graph& g) {
    const Var x0 =
        linear(checked_parameter(g, "x", kCheckedRows, 7), checked_parameter(g, "w", 7, 19));
    Var x = x0;
    for (const std::string name : {"1", "2"}) {
      const Var v = linear(x, checked_parameter(g, ("v" + name).c_str(), 19, 4));
      const Var b = checked_parameter(g, ("b" + name).c_str(), 1, 19);
      x = cross(x0, linear(v, checked_parameter(g, ("u" + name).c_str(), 4, 19), {b}), x);
    }
    return x;
  });
}

TEST_CASE("the gradient of the dot interaction is correct for any features and width") {
  for (const std::int64_t width : {1, 5, 16})
    for (const std::int64_t others : {1, 6, 12})
      check_operator([=](Graph& g) {
        const Var first = checked_parameter(g, "first", kCheckedRows, width);
        const Var rest = checked_parameter(g, "rest", kCheckedRows, others * width);
        return dot_interaction(first, add(rest, gelu(rest)));
      });
}

TEST_CASE("the gradient of the click loss is correct for scores of any size") {
  Graph g(Dtype::f64);
  const Var labels = g.input("labels", {kCheckedRows, 1}, Dtype::f64);
  const Var scores = checked_parameter(g, "scores", kCheckedRows, 1);
  const Var losses = binary_cross_entropy(linear(scores, checked_parameter(g, "w", 1, 1)), labels);
  const auto fill = [&](const Lane& lane) {
    for (std::int64_t i = 0; i < kCheckedRows; ++i)
      lane.view(labels).as<double>()[i] = i % 3 == 0 ? 1.0 : 0.0;
  };
  for (const std::string_view isa : host_kernel_isas()) {
    const auto kernels = [&](Dtype dtype) { return host_kernels(dtype, isa); };
    CHECK(check_gradients(g, losses, fill, kernels).worst < kGradientTolerance);
  }
}

TEST_CASE("the gradient of modulation and gates is correct, in place and not") {
  check_operator([](Graph& g) {
    const Var x =
        linear(checked_parameter(g, "x", kCheckedRows, 5), checked_parameter(g, "w", 5, 19));
    const Var vectors = gelu(checked_parameter(g, "vectors", 2, 2 * 19));
    const Var gates = gelu(checked_parameter(g, "gates", 11, 19));
    const Var y = modulate(add(modulate(x, vectors), x), vectors);
    return gated_add(gated_add(y, x, gates), gelu(y), gates);
  });
}

TEST_CASE("the gradient of joined and parted sequences is correct, also where parts overlap") {
  check_operator([](Graph& g) {
    const Var a = gelu(checked_parameter(g, "a", 2 * 4, 7));
    const Var b = checked_parameter(g, "b", 2 * 7, 7);
    const Var all = gelu(join_sequences(a, b, 2));
    const Var part = part_of_sequences(all, 2, 3, 5);
    return join_sequences(join_sequences(part, a, 2),
                          part_of_sequences(part_of_sequences(all, 2, 0, 11), 2, 4, 2), 2);
  });
}

TEST_CASE("the gradient of the squared error is correct") {
  Graph g(Dtype::f64);
  const Var targets = g.input("targets", {kCheckedRows, 13}, Dtype::f64);
  const Var losses = squared_error(
      linear(checked_parameter(g, "x", kCheckedRows, 5), checked_parameter(g, "w", 5, 13)),
      targets);
  const auto fill = [&](const Lane& lane) {
    for (std::int64_t i = 0; i < 13 * kCheckedRows; ++i)
      lane.view(targets).as<double>()[i] = 0.3 * static_cast<double>(i % 11) - 1.0;
  };
  for (const std::string_view isa : host_kernel_isas()) {
    const auto kernels = [&](Dtype dtype) { return host_kernels(dtype, isa); };
    CHECK(check_gradients(g, losses, fill, kernels).worst < kGradientTolerance);
  }
}

namespace {

constexpr std::int64_t kPolicyRows = 12;

/// Log-probabilities at sampling that put ratios near `ratio`, with all other terms set.
GradientError check_policy_loss(double ratio, double advantage, const KernelFactory& kernels) {
  Graph graph(Dtype::f64);
  const Var x = checked_parameter(graph, "x", kPolicyRows, 5),
            w = checked_parameter(graph, "w", 5, 7);
  const Var logits = linear(x, w);
  const Var targets = graph.input("targets", {kPolicyRows, 1}, Dtype::int32);
  const Var terms = graph.input("terms", {kPolicyRows, kPolicyTerms}, Dtype::f32);
  const Var losses = policy_loss(logits, targets, terms, 0.2);
  const Plan plan = make_plan(graph, false);
  const Weights weights(plan, 1);
  const auto logit = [&](std::int64_t row, std::int64_t column) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < 5; ++k)
      sum += weights.view(plan, x.id).as<double>()[row * 5 + k] *
             weights.view(plan, w.id).as<double>()[k * 7 + column];
    return sum;
  };
  const auto fill = [&](const Lane& lane) {
    fill_ids(lane.view(targets), 7, 5);
    auto* ids = lane.view(targets).as<std::int32_t>();
    ids[3] = -1;  // left out
    for (std::int64_t i = 0; i < kPolicyRows; ++i) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < 7; ++j) sum += std::exp(logit(i, j));
      const double log_p = ids[i] < 0 ? 0.0 : logit(i, ids[i]) - std::log(sum);
      float* row = lane.view(terms).as<float>() + i * kPolicyTerms;
      row[0] = static_cast<float>(advantage * (1.0 + 0.1 * static_cast<double>(i)));
      row[1] = static_cast<float>(log_p - std::log(ratio));
      row[2] = static_cast<float>(log_p + 0.3);
      row[3] = 0.25F;
      row[4] = 0.5F;
    }
  };
  return check_gradients(graph, losses, fill, kernels);
}

/// The gradient forgets the divergence from the reference; the loss has it.
class WithoutDivergence final : public PolicyKernels {
 public:
  explicit WithoutDivergence(std::unique_ptr<PolicyKernels> real) : real_(std::move(real)) {}
  void loss(const PolicyLoss& what) override {
    PolicyLoss part = what;
    part.gradient_scale = 0.0;
    real_->loss(part);
    std::vector<float> terms(what.terms.as<float>(),
                             what.terms.as<float>() + what.terms.elements());
    for (std::size_t i = 3; i < terms.size(); i += kPolicyTerms) terms[i] = 0.0F;
    std::vector<double> losses(static_cast<std::size_t>(what.losses.rows));
    part = what;
    part.terms.data = terms.data();
    part.losses.data = losses.data();
    real_->loss(part);
  }
  void store(const AttentionShape&, View, std::int64_t, std::int64_t, View) override {}
  void attend(const AttentionShape&, View, std::int64_t, View, View) override {}
  void choose(View, View, double, View, View) override {}

 private:
  std::unique_ptr<PolicyKernels> real_;
};

}  // namespace

TEST_CASE("the gradient of the policy loss is correct inside and outside of its clip") {
  for (const std::string_view isa : host_kernel_isas())
    for (const double ratio : {0.5, 1.0, 1.6})
      for (const double advantage : {-1.5, 2.0}) {
        const GradientError error = check_policy_loss(
            ratio, advantage, [isa](Dtype dtype) { return host_kernels(dtype, isa); });
        INFO(isa << ", ratio " << ratio << ", advantage " << advantage);
        CHECK(error.worst < kGradientTolerance);
      }
}

TEST_CASE("a policy gradient without its divergence is found by finite differences") {
  const GradientError error = check_policy_loss(1.0, 2.0, [](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    set.policy = std::make_unique<WithoutDivergence>(std::move(set.policy));
    return set;
  });
  CHECK(error.worst > 1e-3);
}

TEST_CASE("the gradient of a convolution is correct for strides, padding, groups and a bias") {
  check_operator([](Graph& g) {
    const Map x{checked_parameter(g, "x", 2 * 5 * 6, 4), 5, 6};
    const Var w = checked_parameter(g, "w", 9 * 4, 6), bias = checked_parameter(g, "b", 1, 6);
    const Map y = convolution(x, w, {3, 1, 1, 1, bias});
    const Map half = convolution(y, checked_parameter(g, "v", 9 * 6, 4), {3, 2, 1});
    return convolution(half, checked_parameter(g, "u", 2 * 2 * 4, 5), {2, 1, 0}).values;
  });
  check_operator([](Graph& g) {
    const Map x{checked_parameter(g, "x", 3 * 4 * 4, 6), 4, 4};
    const Map y = convolution(x, checked_parameter(g, "w", 9 * 6, 4), {3, 1, 1, 2});
    const Map z = convolution(y, checked_parameter(g, "v", 8, 5), {1, 1, 0});
    return add(z.values, convolution(z, checked_parameter(g, "u", 5, 5), {1, 1, 0}).values);
  });
}

// 2^18 elements of patches are gathered at once: here those of one image of three.
TEST_CASE("the gradient of a convolution over many images is correct") {
  check_operator([](Graph& g) {
    const Map x{checked_parameter(g, "x", 3 * 64 * 64, 5), 64, 64};
    const Map y = convolution(x, checked_parameter(g, "w", 9 * 5, 3), {3, 1, 1});
    return convolution(y, checked_parameter(g, "v", 16 * 3, 4), {4, 16, 0}).values;
  });
}

TEST_CASE("the gradient of group norms and enlarged maps is correct, in place and not") {
  for (const bool relu : {false, true})
    check_operator([relu](Graph& g) {
      const Map x{linear(checked_parameter(g, "x", 2 * 4 * 6, 5), checked_parameter(g, "w", 5, 6)),
                  4, 6};
      const Var gain = checked_parameter(g, "gain", 1, 6),
                bias = checked_parameter(g, "bias", 1, 6);
      const Map y = group_norm(x, gain, bias, 3, relu);
      const Map half = convolution(y, checked_parameter(g, "v", 9 * 6, 6), {3, 2, 1});
      return add(upsample_add(half, y).values, upsample_add(half, x).values);
    });
}

TEST_CASE("the gradient of pooling, means of rows and rectified sums is correct") {
  check_operator([](Graph& g) {
    const Map x{linear(checked_parameter(g, "x", 2 * 7 * 6, 5), checked_parameter(g, "w", 5, 6)), 7,
                6};
    const Map y = max_pool(x, 3, 2, 1);
    const Var z = add_relu(y.values, linear(y.values, checked_parameter(g, "v", 6, 6)));
    return linear(z, checked_parameter(g, "u", 6, 5));
  });
  check_operator([](Graph& g) {
    const Var x = linear(checked_parameter(g, "x", 3 * 8, 5), checked_parameter(g, "w", 5, 7));
    const Var y = add_relu(x, linear(x, checked_parameter(g, "v", 7, 7)));
    return add(mean_rows(y, 3), mean_rows(add_relu(y, x), 3));
  });
}

TEST_CASE("the loss with smoothed labels is that of mixed targets, and so is its gradient") {
  Graph g(Dtype::f64);
  const Var logits = linear(checked_parameter(g, "x", 5, 4), checked_parameter(g, "w", 4, 7));
  const Var targets = g.input("targets", {5, 1}, Dtype::int32);
  const Var losses = smoothed_cross_entropy(logits, targets, 0.2);
  const auto fill = [&](const Lane& lane) {
    fill_ids(lane.view(targets), 7, 5);
    lane.view(targets).as<std::int32_t>()[1] = -1;  // left out
  };
  for (const std::string_view isa : host_kernel_isas())
    CHECK(check_gradients(g, losses, fill, [&](Dtype dtype) {
            return host_kernels(dtype, isa);
          }).worst < kGradientTolerance);
  // Of equal logits it is log(classes), of a sure right answer what the other labels cost.
  std::vector<double> z(7, 0.0), loss(1, 0.0);
  std::int32_t label = 3;
  const KernelSet kernels = host_kernels(Dtype::f64);
  const auto of = [&] {
    kernels.classifier->smoothed_cross_entropy({z.data(), 1, 7, Dtype::f64},
                                               {&label, 1, 1, Dtype::int32}, 0.2, 0.0,
                                               {loss.data(), 1, 1, Dtype::f64});
    return loss[0];
  };
  CHECK(of() == Approx(std::log(7.0)));
  z[3] = 50.0;
  CHECK(of() == Approx(50.0 * 0.2 * 6.0 / 7.0));
}

TEST_CASE("the gradient of HSTU's attention, gates and losses is correct for all lengths") {
  // More events than a block of queries, in the second case; a full history, an empty one, and one
  // between.
  for (const HstuAttentionShape& shape :
       {HstuAttentionShape{11, 2, 5, 6}, HstuAttentionShape{70, 1, 8, 9}}) {
    Graph g(Dtype::f64);
    const std::int64_t rows = 3 * shape.sequence, width = shape.width();
    const Var packed =
        silu(linear(checked_parameter(g, "x", rows, 6), checked_parameter(g, "w", 6, 4 * width)));
    const Var lengths = g.input("lengths", {3, 1}, Dtype::int32);
    const Var times = g.input("times", {rows, 1}, Dtype::int32);
    const Var labels = g.input("labels", {rows, 1}, Dtype::int32);
    const Var attended = hstu_attention(
        {packed, lengths, times, checked_parameter(g, "by_distance", shape.heads, shape.sequence),
         checked_parameter(g, "by_time", shape.heads, shape.buckets)},
        shape);
    const Var y = hstu_gate(add(attended, checked_parameter(g, "z", rows, width)), packed);
    const Var losses = event_losses(linear(y, checked_parameter(g, "v", width, 1)), labels);
    const auto fill = [&](const Lane& lane) {
      const auto at = [&](Var input) { return lane.view(input).as<std::int32_t>(); };
      at(lengths)[0] = static_cast<std::int32_t>(shape.sequence);
      at(lengths)[1] = 0;
      at(lengths)[2] = static_cast<std::int32_t>(shape.sequence * 2 / 3);
      for (std::int64_t row = 0; row < rows; ++row) {
        at(times)[row] = static_cast<std::int32_t>(row % shape.sequence * 3);
        at(labels)[row] = static_cast<std::int32_t>(row % 3) - 1;
      }
    };
    for (const std::string_view isa : host_kernel_isas()) {
      const GradientError error =
          check_gradients(g, losses, fill, [&](Dtype dtype) { return host_kernels(dtype, isa); });
      INFO(isa << ": worst at " << error.parameter);
      CHECK(error.worst < kGradientTolerance);
    }
  }
}

TEST_CASE("the gradient of attention over neighbours is correct for all of its inputs") {
  for (const NeighbourShape& shape :
       {NeighbourShape{4, 2, 16}, NeighbourShape{15, 1, 7}, NeighbourShape{1, 3, 9}})
    check_operator([&](Graph& g) {
      constexpr std::int64_t kNodes = 7;
      const Var values = checked_parameter(g, "values", kNodes * shape.fan_out, shape.width());
      const Var own = checked_parameter(g, "own", kNodes, shape.heads);
      const Var vector = checked_parameter(g, "vector", 1, shape.width());
      const Var y = neighbour_attention(values, own, vector, shape);
      // Used twice, so that gradients are added as well as written.
      return add(y, neighbour_attention(values, own, vector, shape));
    });
}

TEST_CASE("the time between two events counts by its power of two, up to the last bucket") {
  CHECK(time_bucket(0, 5) == 0);
  CHECK(time_bucket(1, 5) == 1);
  CHECK(time_bucket(3, 5) == 2);
  CHECK(time_bucket(4, 5) == 3);
  CHECK(time_bucket(1 << 30, 5) == 4);
  CHECK(time_bucket(7, 1) == 0);
}

TEST_CASE("a window's gradient goes to the first of its largest pixels") {
  std::vector<double> x{1, 5, 5, 2}, y(1), dy{3.0}, dx(4, 1.0);
  const PatchShape window{2, 2, 2, 1, 0, 0, 1};
  const KernelSet kernels = host_kernels(Dtype::f64);
  const auto view = [](std::vector<double>& values) {
    return View{values.data(), static_cast<std::int64_t>(values.size()), 1, Dtype::f64};
  };
  kernels.classifier->max_pool(window, view(x), view(y));
  CHECK(y[0] == 5.0);
  kernels.classifier->max_pool_backward(window, {view(x), view(y), view(dy), view(dx), false});
  CHECK(dx == std::vector<double>{0, 3, 0, 0});
}

TEST_CASE("the gradient of a detector's loss is correct through its levels") {
  Graph g(Dtype::f64);
  constexpr std::int64_t kAnchorsOfTwoLevels = 2 * (6 + 2), kClasses = 3;
  const auto level = [&](const std::string& name, std::int64_t height, std::int64_t width) {
    const std::int64_t rows = 2 * height * width;
    const Map x{checked_parameter(g, (name + "x").c_str(), rows, 5), height, width};
    const auto head = [&](const char* of, std::int64_t columns) {
      const Var w = checked_parameter(g, (name + of).c_str(), 5, columns);
      return Map{linear(x.values, w), height, width};
    };
    return LevelPredictions{head("classes", 2 * kClasses), head("boxes", 2 * 4)};
  };
  const Var predictions = join_levels({level("a", 3, 2), level("b", 1, 2)}, kClasses);
  const DetectionTargets targets{g.input("classes", {2 * kAnchorsOfTwoLevels, 1}, Dtype::int32),
                                 g.input("boxes", {2 * kAnchorsOfTwoLevels, 4}, Dtype::f64),
                                 g.input("weights", {2, 1}, Dtype::f64)};
  const Var losses = detection_loss(predictions, targets, {0.25, 0.4, 1.5});
  const auto fill = [&](const Lane& lane) {
    for (std::int64_t i = 0; i < 2 * kAnchorsOfTwoLevels; ++i) {
      lane.view(targets.classes).as<std::int32_t>()[i] = static_cast<std::int32_t>(i % 5) - 2;
      for (std::int64_t k = 0; k < 4; ++k)
        lane.view(targets.boxes).as<double>()[4 * i + k] = 0.3 * static_cast<double>(i % 7) - 1.0;
    }
    lane.view(targets.weights).as<double>()[0] = 0.5;
    lane.view(targets.weights).as<double>()[1] = 0.125;
  };
  for (const std::string_view isa : host_kernel_isas()) {
    const auto kernels = [&](Dtype dtype) { return host_kernels(dtype, isa); };
    CHECK(check_gradients(g, losses, fill, kernels).worst < kGradientTolerance);
  }
}

}  // namespace bench::training
